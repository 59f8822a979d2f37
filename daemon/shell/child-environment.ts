import { delimiter, join, sep } from 'node:path';

/** Name of the variable that marks every process of a job, however far it strays. */
export const jobCookieName = 'TALLYSTICK_JOB_ID';

/** What a command needs of the daemon's environment to find programs, folders, languages and the network. */
const allowed = new Set([
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'HOSTNAME',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'JAVA_HOME',
  'ANDROID_HOME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'PYENV_ROOT',
  'VOLTA_HOME',
  'PNPM_HOME',
  'BUN_INSTALL',
  'DENO_DIR',
  'HOMEBREW_PREFIX',
  'XDG_CONFIG_HOME',
  'XDG_CACHE_HOME',
  'XDG_DATA_HOME',
  'SYSTEMROOT',
  'SYSTEMDRIVE',
  'WINDIR',
  'COMSPEC',
  'PATHEXT',
  'USERPROFILE',
  'HOMEDRIVE',
  'HOMEPATH',
  'USERNAME',
  'APPDATA',
  'LOCALAPPDATA',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'COMMONPROGRAMFILES',
  'NUMBER_OF_PROCESSORS',
  'PROCESSOR_ARCHITECTURE',
]);

/** There is no terminal and nobody to answer: programs must neither page nor ask. */
const quiet = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' };

/**
 * Environment of the commands: an allowlist out of the daemon's own, so that keys, tokens, the session bus and loader
 * settings that the daemon was started with reach no command.
 */
export function childEnvironment(own: NodeJS.ProcessEnv): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && isAllowed(name.toUpperCase())) environment[name] = value;
  }
  const path = own.PATH ?? own.Path;
  if (path !== undefined) environment.PATH = withoutScriptFolders(path);
  return { ...environment, ...quiet };
}

function isAllowed(name: string): boolean {
  return allowed.has(name) || name.startsWith('LC_');
}

/** `npm run` puts its own folders first on the path; a project's `node` must not turn out to be the daemon's. */
function withoutScriptFolders(path: string): string {
  const bin = join('node_modules', '.bin');
  return path
    .split(delimiter)
    .filter((folder) => !folder.endsWith(sep + bin) && !folder.endsWith('node-gyp-bin'))
    .join(delimiter);
}
