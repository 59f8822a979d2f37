import { CodedError } from '../contract/errors.ts';
import type { KeyPlace } from './key-place.ts';
import type { AskedSource, KeySources } from './key-source.ts';
import { codedFault } from './refusals.ts';

/**
 * Where an exported key is put back: the key file where that is the source, else the keychain.
 *
 * @throws CodedError master_key_not_managed where there is no such place, and what is wrong with the source
 */
export async function placeToImportTo(sources: KeySources): Promise<KeyPlace> {
  const asked = await sources.ask();
  if (asked.source === 'environment' || asked.source === null) {
    if (sources.keychain !== undefined) return sources.keychain;
    throw notManaged(
      'There is no keychain to keep the key in. Give it with SERVICE_SECRET_KEY or in a key file, and start the service again.',
    );
  }
  const place = placeIn(asked);
  if (place.source === 'file' && !(await sources.files.isWritable())) throw fileNotWritable('import');
  return place;
}

/**
 * Where the key is that can be exchanged for another.
 *
 * @throws CodedError master_key_not_managed where it is in a place that the service can't change
 */
export async function placeToRotateIn(sources: KeySources): Promise<KeyPlace> {
  const asked = await sources.ask();
  if (asked.source === 'environment')
    throw notManaged(
      'The master key comes from SERVICE_SECRET_KEY, which the service can not change. To rotate it: import the key into the keychain, start the service without SERVICE_SECRET_KEY, rotate; then export the new key and set it there again.',
    );
  if ('fault' in asked) throw codedFault(asked.fault);
  if (asked.source === 'file' && !(await sources.files.isWritable())) throw fileNotWritable('rotate');
  return asked.place;
}

/** What stands there and is no key may be replaced; what can't be asked may not. */
function placeIn(asked: Exclude<AskedSource, { source: 'environment'; place: null }>): KeyPlace {
  if (!('fault' in asked)) return asked.place;
  if (asked.garbage === undefined) throw codedFault(asked.fault);
  return asked.garbage;
}

function fileNotWritable(verb: string): CodedError {
  return notManaged(
    `The folder of the key file can not be written by the service. To ${verb} the key, start it as a user who may write there, or without a key file and with the key in the keychain.`,
  );
}

function notManaged(detail: string): CodedError {
  return new CodedError('master_key_not_managed', detail);
}
