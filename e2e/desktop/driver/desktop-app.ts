import type { Page } from 'playwright';

type Electron = typeof import('electron');

/** How an app's process ended. */
export type Ending = { code: number | null; signal: NodeJS.Signals | null };

/** A running app, on Electron or on its double; the specs know no other way to it. */
export type DesktopApp = {
  readonly pid: number;
  /** Runs a self-contained function in the main process, with the `electron` module and one argument. */
  evaluate<Result, Argument>(
    work: (electron: Electron, argument: Argument) => Result | Promise<Result>,
    argument: Argument,
  ): Promise<Result>;
  /** The first window's page, once there is one. */
  page(): Promise<Page>;
  readonly ended: Promise<Ending>;
  /** Everything the main process printed so far. */
  output(): string;
  /** Ends the process whatever state it is in; does nothing when it has ended. */
  kill(): Promise<void>;
};

export type LaunchOptions = { root: string; env: Record<string, string> };
