import type { DurableJson } from './durable-json.ts';

/** One member of a durable value, for the one capability that it belongs to. */
export interface StateSlice<T> {
  readonly value: T;
  /** Resolves with the change's result once it is durable; see `DurableJson.update`. */
  update<R>(change: (value: T) => { next: T; result: R }): Promise<R>;
  /** Changes memory at once and the disk later; see `DurableJson.updateLazily`. */
  updateLazily(change: (value: T) => T): void;
}

export function sliceOf<State extends object, Name extends keyof State>(
  store: DurableJson<State>,
  name: Name,
): StateSlice<State[Name]> {
  return {
    get value() {
      return store.value[name];
    },
    update: (change) =>
      store.update((state) => {
        const { next, result } = change(state[name]);
        return { next: next === state[name] ? state : { ...state, [name]: next }, result };
      }),
    updateLazily: (change) =>
      store.updateLazily((state) => {
        const next = change(state[name]);
        return next === state[name] ? state : { ...state, [name]: next };
      }),
  };
}
