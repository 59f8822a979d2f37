import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import envPaths from 'env-paths';
import { KeyEnvironment } from './contract/daemon.ts';
import type { LogLevel } from './lib/logger.ts';

export interface Config {
  /** Absolute. */
  readonly dataDir: string;
  /** 0 picks a free port. */
  readonly port: number;
  readonly env: KeyEnvironment;
  readonly requestsPerMinute: number;
  readonly logLevel: LogLevel;
  /** Absolute path of the file that holds the master key of the secret stores, where one was named. */
  readonly keyFile: string | undefined;
  /** Absolute path of the SSH client configuration, where it is not the user's own. */
  readonly sshConfig: string | undefined;
  /** Whether keys are kept in the system's keychain; without it they are files of the data folder. */
  readonly useKeychain: boolean;
  /** Where the daemon's own environment comes from; commands get an allowlist of it. */
  readonly environment: NodeJS.ProcessEnv;
}

export const defaultPort = 4774;
const defaultRequestsPerMinute = 600;

/** A flag or variable that can't be used; its message is for the user. */
export class ConfigError extends Error {}

export const serveFlags = {
  port: { type: 'string' },
  'data-dir': { type: 'string' },
  env: { type: 'string' },
  'key-file': { type: 'string' },
  'ssh-config': { type: 'string' },
  json: { type: 'boolean' },
} as const;

/** Flags and environment, read once. @throws ConfigError */
export function readConfig(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): { config: Config; json: boolean } {
  const flags = parseFlags(args);
  const config: Config = {
    dataDir: dataDirOf(flags['data-dir'], environment),
    port: readInteger('--port', flags.port ?? environment.TALLYSTICK_PORT ?? String(defaultPort), 0, 65_535),
    env: readEnv(flags.env ?? environment.TALLYSTICK_ENV ?? 'live'),
    // For measuring the daemon, which 600 requests a minute would not do.
    requestsPerMinute: readInteger(
      'TALLYSTICK_RATE_LIMIT',
      environment.TALLYSTICK_RATE_LIMIT ?? String(defaultRequestsPerMinute),
      1,
      1e9,
    ),
    logLevel: readLogLevel(environment.TALLYSTICK_LOG ?? 'info'),
    keyFile: resolveIfGiven('--key-file', flags['key-file']),
    sshConfig: resolveIfGiven('--ssh-config', flags['ssh-config']),
    useKeychain: readSwitch('TALLYSTICK_KEYCHAIN', environment.TALLYSTICK_KEYCHAIN),
    environment,
  };
  return { config, json: flags.json ?? false };
}

/** `--data-dir`, `TALLYSTICK_DATA_DIR`, or the platform's folder for application data (XDG on Linux). @throws ConfigError */
export function dataDirOf(flag: string | undefined, environment: NodeJS.ProcessEnv): string {
  if (flag !== undefined) return resolvePath('--data-dir', flag);
  // Set to nothing is as good as not set.
  return resolve(environment.TALLYSTICK_DATA_DIR || envPaths('tallystick', { suffix: '' }).data);
}

function resolveIfGiven(name: string, path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolvePath(name, path);
}

/** An empty path would be the current folder, which nobody means who passes an unset variable. */
function resolvePath(name: string, path: string): string {
  if (path === '') throw new ConfigError(`${name} must not be empty.`);
  return resolve(path);
}

function parseFlags(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: serveFlags, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new ConfigError(error instanceof Error ? error.message : String(error));
  }
}

function readInteger(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, not ${JSON.stringify(text)}.`);
}

/** On unless it is switched off. */
function readSwitch(name: string, text: string | undefined): boolean {
  if (text === undefined || text === '' || text === 'on') return true;
  if (text === 'off') return false;
  throw new ConfigError(`${name} must be on or off, not ${JSON.stringify(text)}.`);
}

function readEnv(text: string): KeyEnvironment {
  const env = KeyEnvironment.safeParse(text);
  if (env.success) return env.data;
  throw new ConfigError(`--env must be live or test, not ${JSON.stringify(text)}.`);
}

function readLogLevel(text: string): LogLevel {
  switch (text) {
    case 'debug':
    case 'info':
    case 'warn':
    case 'error':
    case 'silent':
      return text;
    default:
      throw new ConfigError(
        `TALLYSTICK_LOG must be debug, info, warn, error or silent, not ${JSON.stringify(text)}.`,
      );
  }
}
