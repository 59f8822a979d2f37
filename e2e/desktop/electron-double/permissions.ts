import type { CDPSession } from './protocol.ts';
import type { SessionDouble } from './session.ts';

/** Electron's name of a permission → Chromium's. */
const permissions = [
  ['notifications', 'notifications'],
  ['geolocation', 'geolocation'],
  ['clipboard-read', 'clipboard-read'],
] as const;

/**
 * Grants or denies an origin's permissions as the session's handlers answer; with no handler all are
 * granted. What is set holds as long as the DevTools session it was set with.
 */
export async function applyPermissions(
  cdp: CDPSession,
  contents: { session: SessionDouble },
  url: string,
): Promise<void> {
  const origin = URL.parse(url)?.origin;
  if (origin === undefined || !origin.startsWith('http')) return;
  for (const [electronName, name] of permissions) {
    const granted = await contents.session.grants(electronName, origin, contents);
    const setting = granted ? 'granted' : 'denied';
    await cdp.send('Browser.setPermission', { origin, permission: { name }, setting });
  }
}
