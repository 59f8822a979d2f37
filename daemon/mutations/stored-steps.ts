import type { Step } from './mutation-plan.ts';

/**
 * Steps with an index into the record's blobs in the place of every content; null for none. What was expected at the
 * paths means nothing after a restart: recovery looks at the contents instead.
 */
export type StoredSteps = readonly StoredStep[];

type Stored<S, Bytes extends string> = Omit<S, Bytes | 'expect'> & { [name in Bytes]: number | null };
type Of<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;
type Moved = Of<'rename'>['moved'][number];
type Replaced = NonNullable<Of<'rename'>['replaced']>;

type StoredStep =
  | Stored<Of<'write'>, 'beforeBytes' | 'content'>
  | Stored<Of<'remove'>, 'beforeBytes'>
  | Of<'folder'>
  | (Omit<Of<'rename'>, 'moved' | 'replaced' | 'expect'> & {
      moved: Stored<Moved, 'bytes'>[];
      replaced: Stored<Replaced, 'bytes'> | null;
    });

export function packSteps(steps: readonly Step[]): { stored: StoredSteps; blobs: Buffer[] } {
  const blobs: Buffer[] = [];
  const put = (bytes: Buffer | null) => (bytes === null ? null : blobs.push(bytes) - 1);
  const store = (step: Step): StoredStep => {
    switch (step.kind) {
      case 'write': {
        const { expect: _, ...rest } = step;
        return { ...rest, beforeBytes: put(step.beforeBytes), content: put(step.content) };
      }
      case 'remove': {
        const { expect: _, ...rest } = step;
        return { ...rest, beforeBytes: put(step.beforeBytes) };
      }
      case 'folder':
        return step;
      case 'rename': {
        const { expect: _, ...rest } = step;
        return {
          ...rest,
          moved: step.moved.map((entry) => ({ ...entry, bytes: put(entry.bytes) })),
          replaced: step.replaced === null ? null : { ...step.replaced, bytes: put(step.replaced.bytes) },
        };
      }
    }
  };
  return { stored: steps.map(store), blobs };
}

export function unpackSteps(stored: StoredSteps, blobs: readonly Uint8Array[]): Step[] {
  const get = (index: number | null): Buffer | null => {
    const bytes = index === null ? undefined : blobs[index];
    return bytes === undefined ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  };
  const restore = (step: StoredStep): Step => {
    switch (step.kind) {
      case 'write':
        return {
          ...step,
          beforeBytes: get(step.beforeBytes),
          content: get(step.content) ?? Buffer.alloc(0),
          expect: 'anything',
        };
      case 'remove':
        return { ...step, beforeBytes: get(step.beforeBytes), expect: 'anything' };
      case 'folder':
        return step;
      case 'rename':
        return {
          ...step,
          moved: step.moved.map((entry) => ({ ...entry, bytes: get(entry.bytes) })),
          replaced: step.replaced === null ? null : { ...step.replaced, bytes: get(step.replaced.bytes) },
          expect: { from: 'anything', to: 'anything' },
        };
    }
  };
  return stored.map(restore);
}
