import { join } from 'node:path';
import type { DurableJson } from '../../../daemon/lib/durable-json.ts';
import { openDurableJson } from '../../../daemon/lib/durable-json.ts';

export interface Names {
  names: string[];
}

/** Opens the state that the crash tests write; throws where a broken file would have to be set aside. */
export async function openNames(folder: string): Promise<DurableJson<Names>> {
  return openDurableJson<Names>({
    path: join(folder, 'state.json'),
    initial: () => ({ names: [] }),
    parse: (raw) => {
      const { names } = raw as Names;
      if (!Array.isArray(names)) throw new Error('names is no list');
      return { names };
    },
    onSetAside: ({ reason }) => {
      throw new Error(`state.json is broken: ${reason}`);
    },
  });
}
