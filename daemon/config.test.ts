import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, dataDirOf, defaultPort, readConfig } from './config.ts';

const home = { HOME: '/home/me', XDG_DATA_HOME: '/home/me/.data' };

describe('the configuration', () => {
  test('is as documented where nothing is given', () => {
    const { config, json } = readConfig([], { TALLYSTICK_DATA_DIR: '/data' });
    expect([config, json]).toEqual([
      {
        dataDir: '/data',
        port: 4774,
        env: 'live',
        requestsPerMinute: 600,
        logLevel: 'info',
        keyFile: undefined,
        sshConfig: undefined,
        useKeychain: true,
        environment: { TALLYSTICK_DATA_DIR: '/data' },
      },
      false,
    ]);
    expect(defaultPort).toBe(4774);
  });

  test('takes every flag, and a flag before a variable', () => {
    const args = '--port 0 --data-dir d --env test --key-file k --ssh-config s --json'.split(' ');
    const { config, json } = readConfig(args, {
      TALLYSTICK_PORT: '1',
      TALLYSTICK_ENV: 'live',
      TALLYSTICK_DATA_DIR: '/other',
      TALLYSTICK_RATE_LIMIT: '7',
      TALLYSTICK_LOG: 'debug',
    });
    expect(config).toMatchObject({
      port: 0,
      env: 'test',
      dataDir: resolve('d'),
      keyFile: resolve('k'),
      sshConfig: resolve('s'),
      requestsPerMinute: 7,
      logLevel: 'debug',
    });
    expect(json).toBe(true);
  });

  test('takes ports from 0 to 65535 and no others', () => {
    for (const port of ['0', '1', '65535'])
      expect(readConfig(['--port', port], home).config.port).toBe(Number(port));
    for (const port of ['65536', '-1', '1.5', '1e3', '0x10', ' 1', '', 'http', '٣'])
      expect(() => readConfig([`--port=${port}`], home)).toThrow(ConfigError);
    expect(() => readConfig([], { ...home, TALLYSTICK_PORT: 'x' })).toThrow(ConfigError);
  });

  test.for([
    ['an unknown flag', ['--frob']],
    ['a word too many', ['here']],
    ['a flag without its value', ['--port']],
    ['a value for a switch', ['--json=yes']],
    ['an environment that is none', ['--env', 'prod']],
    ['an empty data folder', ['--data-dir', '']],
    ['an empty key file', ['--key-file=']],
    ['an empty ssh configuration', ['--ssh-config', '']],
  ] as const)('refuses %s', ([, args]) => {
    expect(() => readConfig(args, home)).toThrow(ConfigError);
  });

  test.for([
    ['TALLYSTICK_ENV', 'prod'],
    ['TALLYSTICK_RATE_LIMIT', '0'],
    ['TALLYSTICK_RATE_LIMIT', 'many'],
    ['TALLYSTICK_LOG', 'loud'],
  ] as const)('refuses %s=%s, and says which variable it is', ([name, value]) => {
    expect(() => readConfig([], { ...home, [name]: value })).toThrow(value);
  });
});

describe('the data folder', () => {
  test('is the flag, else the variable, else the platform’s own; an empty variable is none', () => {
    expect(dataDirOf('/flag', { TALLYSTICK_DATA_DIR: '/variable' })).toBe('/flag');
    expect(dataDirOf(undefined, { TALLYSTICK_DATA_DIR: '/variable' })).toBe('/variable');
    const usual = dataDirOf(undefined, {});
    expect(usual).toContain('tallystick');
    expect(dataDirOf(undefined, { TALLYSTICK_DATA_DIR: '' })).toBe(usual);
    expect(usual).not.toBe(process.cwd());
    expect(dataDirOf('relative/../d', {})).toBe(join(process.cwd(), 'd'));
  });
});
