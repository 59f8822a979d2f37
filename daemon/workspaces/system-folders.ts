export interface SystemFolders {
  /** Refused with all that is in them. */
  readonly trees: readonly string[];
  /** Refused themselves; projects do live below them. */
  readonly folders: readonly string[];
  /** Folders inside a tree below which projects do live; refused themselves. Real paths. */
  readonly places: readonly string[];
}

/** Folders that belong to the operating system. Not all of them are there on every machine. */
export function systemFolders(platform: NodeJS.Platform): SystemFolders {
  switch (platform) {
    case 'win32':
      return windowsFolders(process.env);
    case 'darwin':
      return macFolders;
    default:
      return linuxFolders;
  }
}

function windowsFolders({
  SystemRoot = 'C:\\Windows',
  ProgramFiles = 'C:\\Program Files',
  ProgramData = 'C:\\ProgramData',
}: NodeJS.ProcessEnv): SystemFolders {
  return {
    trees: [SystemRoot, ProgramFiles, `${ProgramFiles} (x86)`, ProgramData],
    folders: ['C:\\Users'],
    places: [],
  };
}

const macFolders: SystemFolders = {
  trees: [
    '/System',
    '/Library',
    '/Applications',
    '/bin',
    '/sbin',
    '/usr',
    '/dev',
    '/private/etc',
    '/private/var/db',
    '/private/var/root',
    '/cores',
  ],
  folders: [
    '/Users',
    '/Volumes',
    '/private',
    '/private/var',
    '/private/tmp',
    '/private/var/tmp',
    '/opt',
    '/opt/homebrew',
  ],
  places: ['/usr/local/src'],
};

const linuxFolders: SystemFolders = {
  trees: [
    '/bin',
    '/boot',
    '/dev',
    '/efi',
    '/etc',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/lost+found',
    '/nix',
    '/proc',
    '/sbin',
    '/snap',
    '/sys',
    '/usr',
    '/var',
  ],
  folders: ['/home', '/root', '/opt', '/srv', '/mnt', '/media', '/tmp', '/run', '/var/run'],
  places: ['/usr/src', '/usr/local/src', '/var/www', '/var/tmp', '/var/opt', '/var/local'],
};
