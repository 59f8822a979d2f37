import type { CDPSession as PlaywrightCdpSession } from 'playwright';

export type CDPSession = PlaywrightCdpSession;

/** The parts of the DevTools protocol's types that Playwright has but does not export by name. */
export declare namespace Protocol {
  type RequestPaused = {
    requestId: string;
    request: { url: string; method: string };
    frameId: string;
    resourceType: string;
    responseErrorReason?: string;
    responseStatusCode?: number;
    responseHeaders?: { name: string; value: string }[];
    redirectedRequestId?: string;
  };
}
