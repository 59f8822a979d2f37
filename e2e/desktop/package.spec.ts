import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build, Platform } from 'electron-builder';
import { expect, test } from 'playwright/test';
import { asarFiles } from './driver/asar-files.ts';

const root = join(import.meta.dirname, '..', '..');

test('the app is packed with its daemon, panel and preload, and with no tests or sources', async () => {
  const testInfo = test.info();
  testInfo.setTimeout(180_000);
  const output = testInfo.outputPath('release');
  await pack({ directories: { output }, electronDist: standInForElectron(testInfo.outputPath('electron')) });
  const { packed, unpacked } = asarFiles(join(output, 'linux-unpacked', 'resources', 'app.asar'));

  expect(packed).toEqual(
    expect.arrayContaining([
      'package.json',
      'dist/main/index.js',
      'dist/main/preload.cjs',
      'dist/main/failure/index.html',
      'dist/daemon/index.js',
      'dist/panel/index.html',
      'dist/docs/index.html',
      'dist/assets/tray/idle.png',
      'dist/assets/tray/failedTemplate@2x.png',
      'dist/assets/icons/512x512.png',
    ]),
  );
  const all = [...packed, ...unpacked];
  expect(
    all.filter((path) => /\.tsx?$|\.map$|\.spec\.|\.test\.|(^|\/)(tests?|__tests__|e2e|bench)\//.test(path)),
  ).toEqual([]);
  expect(all.filter((path) => !/^(dist|node_modules)\/|^package\.json$/.test(path))).toEqual([]);
  expect(all.filter((path) => /prebuilds\/(win32|darwin)/.test(path))).toEqual([]);
  // What is compiled can't be loaded from inside the archive.
  expect(packed.filter((path) => path.endsWith('.node'))).toEqual([]);
  // Nor can a thread be started from there.
  expect(packed.concat(unpacked).filter((path) => path.endsWith('-worker.js'))).toHaveLength(2);
  expect(unpacked.filter((path) => path.endsWith('-worker.js'))).toHaveLength(2);
  expect(unpacked.filter((path) => path.endsWith('.node'))).toEqual(
    expect.arrayContaining([
      expect.stringContaining('node_modules/node-pty/'),
      expect.stringContaining('node_modules/@napi-rs/keyring-'),
    ]),
  );
});

test('a key that the packer does not know fails the build', async () => {
  await expect(pack({ asarUnpacked: [] })).rejects.toThrow(/unknown property 'asarUnpacked'/);
});

/** The build as configured, without what needs a real Electron: its fuses and the compiling for its ABI. */
async function pack(changed: object): Promise<void> {
  const config = {
    extends: join(root, 'electron-builder.yml'),
    npmRebuild: false,
    electronFuses: null,
    ...changed,
  };
  await build({ projectDir: root, targets: Platform.LINUX.createTarget('dir'), config });
}

/** The few files of a distribution that the packer renames or reads. */
function standInForElectron(folder: string): string {
  mkdirSync(join(folder, 'resources'), { recursive: true });
  for (const name of ['electron', 'version', 'LICENSE', 'LICENSES.chromium.html']) {
    writeFileSync(join(folder, name), '', { mode: 0o755 });
  }
  return folder;
}
