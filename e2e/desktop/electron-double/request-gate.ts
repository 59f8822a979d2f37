import { cancelableEvent } from './cancelable-event.ts';
import type { CDPSession, Protocol } from './protocol.ts';
import type { SessionDouble } from './session.ts';

export type GateOptions = {
  session: SessionDouble;
  mainFrameId: string;
  /** Whether the app itself asked for this navigation: then the page's rules for navigating don't apply. */
  isExpected: (url: string) => boolean;
  emit: (event: string, details: { preventDefault: () => void }) => void;
};

/**
 * Enforces on a page what the app registered: navigation events that were prevented and requests that
 * `webRequest` cancelled don't happen, and responses arrive with the headers `webRequest` gave them.
 */
export async function guardRequests(cdp: CDPSession, options: GateOptions): Promise<void> {
  cdp.on('Fetch.requestPaused', (paused) => {
    void decide(cdp, paused, options).catch((error: Error) => {
      // A page that is closed or has moved on takes its paused requests with it.
      if (!/Invalid InterceptionId|closed|Invalid state/.test(error.message)) throw error;
    });
  });
  await cdp.send('Fetch.enable', {
    patterns: [
      { urlPattern: '*', requestStage: 'Request' },
      { urlPattern: '*', requestStage: 'Response' },
    ],
  });
}

async function decide(cdp: CDPSession, paused: Protocol.RequestPaused, options: GateOptions): Promise<void> {
  const { requestId } = paused;
  if (paused.responseStatusCode !== undefined || paused.responseErrorReason !== undefined) {
    await passResponse(cdp, paused, options.session);
    return;
  }
  if (paused.resourceType === 'Document' && !mayNavigate(paused, options)) {
    await cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' });
    return;
  }
  if (isCancelled(paused, options)) {
    await cdp.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' });
    return;
  }
  await cdp.send('Fetch.continueRequest', { requestId });
}

function mayNavigate(
  paused: Protocol.RequestPaused,
  { mainFrameId, isExpected, emit }: GateOptions,
): boolean {
  const isMainFrame = paused.frameId === mainFrameId;
  const event = cancelableEvent({ url: paused.request.url, isSameDocument: false, isMainFrame });
  if (paused.redirectedRequestId !== undefined) {
    emit('will-redirect', event);
    return !event.defaultPrevented;
  }
  if (isMainFrame && isExpected(paused.request.url)) return true;
  emit('will-frame-navigate', event);
  if (isMainFrame) emit('will-navigate', event);
  return !event.defaultPrevented;
}

function isCancelled(paused: Protocol.RequestPaused, { session, mainFrameId }: GateOptions): boolean {
  const { requestListener } = session;
  if (requestListener === null) return false;
  let cancelled = false;
  requestListener(detailsOf(paused, mainFrameId), ({ cancel }) => {
    cancelled = cancel === true;
  });
  return cancelled;
}

async function passResponse(cdp: CDPSession, paused: Protocol.RequestPaused, session: SessionDouble) {
  const { requestId, responseStatusCode: responseCode } = paused;
  let changed: Record<string, string | string[]> | undefined;
  if (responseCode !== undefined && session.headersListener !== null) {
    const details = {
      ...detailsOf(paused, ''),
      statusCode: responseCode,
      responseHeaders: headersOf(paused),
    };
    session.headersListener(details, ({ responseHeaders }) => {
      changed = responseHeaders;
    });
  }
  if (changed === undefined || responseCode === undefined) {
    await cdp.send('Fetch.continueResponse', { requestId });
    return;
  }
  const responseHeaders = Object.entries(changed).flatMap(([name, values]) =>
    [values].flat().map((value) => ({ name, value })),
  );
  if (paused.resourceType === 'Document' && responseCode < 300) {
    // Chromium takes a document's policies from the response as it came, unless it is answered anew.
    const { body, base64Encoded } = await cdp.send('Fetch.getResponseBody', { requestId });
    const encoded = base64Encoded ? body : Buffer.from(body).toString('base64');
    await cdp.send('Fetch.fulfillRequest', { requestId, responseCode, responseHeaders, body: encoded });
    return;
  }
  await cdp.send('Fetch.continueResponse', { requestId, responseCode, responseHeaders });
}

function headersOf({ responseHeaders = [] }: Protocol.RequestPaused): Record<string, string[]> {
  const headers: Record<string, string[]> = {};
  for (const { name, value } of responseHeaders) headers[name] = [...(headers[name] ?? []), value];
  return headers;
}

const resourceTypes: Record<string, string> = {
  Stylesheet: 'stylesheet',
  Script: 'script',
  Image: 'image',
  Font: 'font',
  Media: 'media',
  Fetch: 'xhr',
  XHR: 'xhr',
  EventSource: 'xhr',
  Ping: 'ping',
  CSPViolationReport: 'cspReport',
};

function detailsOf({ request, resourceType, frameId }: Protocol.RequestPaused, mainFrameId: string) {
  const document = frameId === mainFrameId ? 'mainFrame' : 'subFrame';
  return {
    url: request.url,
    method: request.method,
    resourceType: resourceType === 'Document' ? document : (resourceTypes[resourceType] ?? 'other'),
  };
}
