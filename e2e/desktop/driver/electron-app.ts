import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { _electron } from 'playwright';
import type { DesktopApp, Ending, LaunchOptions } from './desktop-app.ts';

const recorder = fileURLToPath(new URL('./recorder.cjs', import.meta.url));

/** Starts the app on real Electron. */
export async function launchOnElectron(binary: string, { root, env }: LaunchOptions): Promise<DesktopApp> {
  const electronApp = await _electron.launch({
    executablePath: binary,
    args: ['-r', recorder, ...sandboxArguments(), root],
    env,
    cwd: root,
  });
  const child = electronApp.process();
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (output += String(text)));
  const ended = new Promise<Ending>((resolve) =>
    child.once('exit', (code, signal) => resolve({ code, signal })),
  );
  return {
    pid: child.pid ?? -1,
    evaluate: (work, argument) => electronApp.evaluate(work as never, argument) as never,
    page: async () => {
      const page = await electronApp.firstWindow();
      await page.waitForURL(/^(http|data):/);
      return page;
    },
    ended,
    output: () => output,
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A further start of an app that runs already: it ends by itself, too soon for Playwright to get hold of it. */
export async function startElectronAgain(binary: string, { root, env }: LaunchOptions): Promise<Ending> {
  const child = spawn(binary, [...sandboxArguments(), root], { env, cwd: root, stdio: 'ignore' });
  const [code, signal] = await once(child, 'exit');
  return { code, signal };
}

/** Chromium refuses to sandbox itself as root, which only a test machine runs it as. */
function sandboxArguments(): string[] {
  return process.platform === 'linux' && process.getuid?.() === 0 ? ['--no-sandbox'] : [];
}
