import { defineConfig } from 'playwright/test';

const chromium = {
  executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ],
};

export default defineConfig({
  outputDir: 'test-results',
  workers: 2,
  timeout: 90_000,
  // How long to look for what is to come; a machine that tests beside other work is slow, and no test asserts a time.
  expect: { timeout: 20_000 },
  forbidOnly: process.env.CI === 'true',
  reporter: [['list'], ['json', { outputFile: 'test-results/playwright.json' }]],
  use: { launchOptions: chromium, trace: 'retain-on-failure' },
  projects: [
    { name: 'panel', testDir: 'e2e/panel', testMatch: '**/*.spec.ts' },
    { name: 'desktop', testDir: 'e2e/desktop', testMatch: '**/*.spec.ts' },
  ],
});
