import type { FailureReason, Result, Store } from './store.ts'

/** Called for each call: what it was, how long it took, and why it failed; `null` if it did not. */
export type StoreObserver = (op: string, ms: number, failure: FailureReason | null) => void

/** The calls that requests wait for. */
type Watched = 'put' | 'get' | 'part' | 'touch'

/** The same store, with its calls reported. */
export function observed(store: Store, observe: StoreObserver): Store {
  async function timed<T>(op: Watched, call: Promise<T>, failure: (result: T) => Result<object>[]) {
    const started = performance.now()
    const result = await call
    const failed = failure(result).find(each => !each.ok)
    observe(op, performance.now() - started, failed?.ok === false ? failed.reason : null)
    return result
  }

  return {
    ...store,
    // A store that is opened late has these only then.
    get claims() {
      return store.claims
    },
    get journal() {
      return store.journal
    },
    get rates() {
      return store.rates
    },
    get load() {
      return store.load
    },
    put: items => timed('put', store.put(items), results => [...results]),
    touch: items => timed('touch', store.touch(items), results => [...results]),
    get: reference => timed('get', store.get(reference), result => [result]),
    part: (reference, selector) =>
      timed('part', store.part(reference, selector), result => [result]),
  }
}
