import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: { name: 'unit', include: ['{daemon,main,renderer,scripts}/**/*.test.ts'], testTimeout: 30_000 },
      },
      {
        test: {
          name: 'api',
          include: ['e2e/api/**/*.test.ts'],
          // Real daemons and child processes; the deep matrices take minutes.
          testTimeout: process.env.TALLYSTICK_DEEP === '1' ? 1_800_000 : 240_000,
          hookTimeout: 120_000,
        },
      },
    ],
    maxWorkers: 2,
  },
});
