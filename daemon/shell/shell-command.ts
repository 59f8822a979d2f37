export interface ShellCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** cmd.exe parses its command line itself: Node must not quote it. */
  readonly windowsVerbatimArguments: boolean;
}

/**
 * What runs a command line: `sh -c`, on Windows `cmd.exe /c`. Never a login shell: its start-up files cost up to a
 * hundred times what the shell itself does, and differ from user to user.
 */
export function shellCommand(cmd: string, platform: NodeJS.Platform, comSpec = 'cmd.exe'): ShellCommand {
  if (platform === 'win32')
    return { file: comSpec, args: ['/d', '/s', '/c', `"${cmd}"`], windowsVerbatimArguments: true };
  return { file: '/bin/sh', args: ['-c', cmd], windowsVerbatimArguments: false };
}
