import { createHash } from 'node:crypto';

/** What `%` and a letter stand for; a letter that is not there is an error. */
export type Tokens = Readonly<Record<string, string>>;

/**
 * Puts values in place of `%` tokens, and of `${NAME}` where an environment is given.
 *
 * @throws Error for a token that is not known, or a variable that is not set
 */
export function expandTokens(text: string, tokens: Tokens, environment?: NodeJS.ProcessEnv): string {
  return text.replace(/\$\{([^}]*)(\}?)|%(.?)/gs, (found, name?: string, end?: string, letter?: string) => {
    if (name === undefined) return expandToken(letter ?? '', tokens);
    if (environment === undefined)
      return found.replace(/%(.?)/gs, (_, inner: string) => expandToken(inner, tokens));
    if (end === '' || name === '') throw new Error(`${found} is not a variable`);
    const value = environment[name];
    if (value === undefined) throw new Error(`the variable ${name} is not set`);
    return value;
  });
}

function expandToken(letter: string, tokens: Tokens): string {
  if (letter === '%') return '%';
  const value = Object.hasOwn(tokens, letter) ? tokens[letter] : undefined;
  if (value === undefined) throw new Error(`%${letter} can not be used here`);
  return value;
}

/**
 * Puts a home folder in place of a `~` at the beginning.
 *
 * @throws Error for the home folder of somebody else, which is not looked up
 */
export function expandTilde(text: string, home: string, user: string): string {
  const match = /^~([^/]*)\/*(.*)$/s.exec(text);
  if (match === null) return text;
  const [, name, path = ''] = match;
  if (name !== '' && name !== user) throw new Error(`~${name} is not the home folder of ${user}`);
  return `${home.replace(/\/$/, '')}/${path}`;
}

/** `%C`: names a connection in a few characters. */
export function connectionHash(thisHost: string, hostname: string, port: number, user: string): string {
  return createHash('sha1').update(`${thisHost}${hostname}${port}${user}`).digest('hex');
}
