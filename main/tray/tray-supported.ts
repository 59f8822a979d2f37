import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/**
 * Whether this desktop shows tray icons. macOS and Windows do. On Linux a status notifier host must be on
 * the session bus (GNOME has none without an extension); Electron does not tell, so the bus is asked.
 */
export async function traySupported(platform: NodeJS.Platform): Promise<boolean> {
  if (platform !== 'linux') return true;
  try {
    const { stdout } = await run(
      'gdbus',
      [
        'call',
        '--session',
        '--dest=org.freedesktop.DBus',
        '--object-path=/org/freedesktop/DBus',
        '--method=org.freedesktop.DBus.NameHasOwner',
        'org.kde.StatusNotifierWatcher',
      ],
      { timeout: 2_000 },
    );
    return stdout.includes('true');
  } catch {
    // No gdbus or no session bus. Without certainty, closing the window must not hide the app for good.
    return false;
  }
}
