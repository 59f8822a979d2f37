import type { Session } from 'electron';
import { mayRequest, type UrlPolicy } from './allowed-url.ts';
import { contentSecurityPolicy } from './content-security-policy.ts';

/** Denies permissions and devices, and lets no request out to anything but the panel's origin. */
export function lockDownSession(session: Session, policy: UrlPolicy): void {
  session.setPermissionCheckHandler(() => false);
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, answer) => answer(null));
  session.setBluetoothPairingHandler((_details, answer) => answer({ confirmed: false }));
  session.setSpellCheckerEnabled(false); // it would fetch dictionaries from elsewhere
  session.webRequest.onBeforeRequest((details, answer) => {
    answer({ cancel: !mayRequest(details.url, details.resourceType, policy) });
  });
  session.webRequest.onHeadersReceived((details, answer) => {
    const { origin } = new URL(details.url);
    if (origin !== policy.panelOrigin()) return answer({});
    answer({ responseHeaders: withPolicy(details.responseHeaders ?? {}, contentSecurityPolicy(origin)) });
  });
  session.on('will-download', (event, item) => {
    if (!item.getURLChain().every((url) => mayRequest(url, 'other', policy))) event.preventDefault();
  });
}

/** Adds one policy to those that are there: a browser enforces each of them. */
function withPolicy(headers: Record<string, string[]>, added: string): Record<string, string[]> {
  const name = 'content-security-policy';
  const others = Object.entries(headers).filter(([key]) => key.toLowerCase() !== name);
  const present = Object.entries(headers).filter(([key]) => key.toLowerCase() === name);
  return { ...Object.fromEntries(others), [name]: [...present.flatMap(([, values]) => values), added] };
}
