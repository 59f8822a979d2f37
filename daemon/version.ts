import packageJson from '../package.json' with { type: 'json' };

/** SemVer of the product. */
export const version: string = packageJson.version;
