import { KeychainError, systemKeychain } from '../keychain.ts';

/** `get|set|remove ACCOUNT [SECRET]`: asks the keychain of the session it is started in, and prints the answer as JSON. */
const [call, account = '', secret = ''] = process.argv.slice(2);
const keychain = systemKeychain('tallystick', account);
try {
  const answer =
    call === 'get'
      ? await keychain.get()
      : call === 'set'
        ? await keychain.set(secret)
        : await keychain.remove();
  console.log(JSON.stringify(answer ?? null));
} catch (error) {
  if (!(error instanceof KeychainError)) throw error;
  console.log(JSON.stringify({ fault: error.fault, message: error.message }));
}
