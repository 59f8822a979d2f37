import { parseEnv } from 'node:util';
import {
  type ImportedSecret,
  minMaskedCharacters,
  whyNotSecretName,
  whyNotSecretValue,
} from '../contract/secrets.ts';
import { previewOf } from './preview.ts';
import type { StoreContents } from './store-format.ts';

export interface EnvEntry extends ImportedSecret {
  readonly value: string;
}

/** What setting the variables of a `.env` text would do to a store, in the order of the text. */
export function readEnvText(text: string, secrets: StoreContents['secrets']): EnvEntry[] {
  // A mark that some editors put first is no part of the first name.
  const variables = parseEnv(text.replace(/^\uFEFF/, ''));
  const names = Array.from(text.matchAll(/^\s*(?:export\s+)?([^\s=#]+)\s*=/gm), ([, name]) => name);
  const inOrder = Object.entries(variables).sort(([a], [b]) => names.indexOf(a) - names.indexOf(b));
  return inOrder.map(([name, value = '']) => {
    const fault = whyNot(name, value);
    if (fault !== undefined) return { name, value, step: 'refused', preview: '', detail: fault };
    const known = secrets.get(name)?.value;
    const step = known === undefined ? 'create' : known === value ? 'unchanged' : 'update';
    const warning = maskWarning(value);
    return {
      name,
      value,
      step,
      preview: previewOf(value),
      ...(warning === undefined ? {} : { detail: warning }),
    };
  });
}

/** Of a value that is too short to be masked; else undefined. */
export function maskWarning(value: string): string | undefined {
  if (Array.from(value.slice(0, 2 * minMaskedCharacters)).length >= minMaskedCharacters) return undefined;
  return `Values under ${minMaskedCharacters} characters are not masked: commands can print this one in plain text.`;
}

function whyNot(name: string, value: string): string | undefined {
  const nameFault = whyNotSecretName(name);
  if (nameFault !== undefined) return `The name ${nameFault}.`;
  const valueFault = whyNotSecretValue(value);
  return valueFault === undefined ? undefined : `The value ${valueFault}.`;
}
