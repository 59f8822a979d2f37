import { app } from 'electron';
import type { UrlPolicy } from './allowed-url.ts';
import { lockDownContents } from './lock-down-contents.ts';
import { lockDownSession } from './lock-down-session.ts';

/**
 * Takes away what no window of this app needs. Called before `ready`, so that there is no window and no
 * session it comes too late for.
 */
export function lockDownApp(policy: UrlPolicy): void {
  app.enableSandbox();
  app.on('session-created', (session) => lockDownSession(session, policy));
  app.on('web-contents-created', (_event, contents) => lockDownContents(contents, policy));
  app.on('certificate-error', (event, _contents, _url, _error, _certificate, answer) => {
    event.preventDefault();
    answer(false);
  });
  app.on('select-client-certificate', (event) => event.preventDefault());
  app.on('login', (event) => event.preventDefault());
}
