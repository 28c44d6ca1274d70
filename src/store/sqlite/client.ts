import { createSizes } from '../parts/call-size.ts'
import { createPartsDesk } from '../parts/parts-desk.ts'
import { isCutElsewhere, type SelectElsewhere, threadSelect } from '../parts/select-elsewhere.ts'
import type { PutItem, Removed, Result, Store } from '../store.ts'
import { fail } from '../values/failure.ts'
import type { StoreEvent } from '../values/store-event.ts'
import { type CallLimits, type Calls, createCalls } from './calls.ts'
import { type Connect, threadConnect } from './connection.ts'
import { type SqliteStoreOptions, settle } from './settings.ts'

export interface OpenStoreOptions extends SqliteStoreOptions, Partial<CallLimits> {
  /** Gets what an operator should know; must not throw. */
  onEvent(event: StoreEvent): void
  /** Seam for tests: runs the store elsewhere than in a thread. */
  readonly connect?: Connect
  /** Seam for tests: cuts parts elsewhere than in a thread. */
  readonly elsewhere?: SelectElsewhere
}

const MAX_CALLS = 4096
const MAX_WAIT_MS = 2000
/** A cursor of `verify` is the id of a row, which is safe as a number. */
const ROW = /^\d{1,15}$/
const FIRST_ROW = '0'

/**
 * Opens the embedded store: one SQLite file in `folder`, in a thread of its own. Resolves when it
 * answers.
 * @throws RangeError for impossible options; Error if the folder cannot be used or the file is
 * of a newer version
 */
export async function openSqliteStore(options: OpenStoreOptions): Promise<Store> {
  const { onEvent, connect, elsewhere, maxCalls, maxBytesWaiting, maxWaitMs, ...rest } = options
  settle(rest)
  const sizes = createSizes()
  const calls = await createCalls({
    sizes,
    connect: connect ?? threadConnect(rest),
    onEvent,
    limits: {
      maxCalls: maxCalls ?? MAX_CALLS,
      maxBytesWaiting: maxBytesWaiting ?? 64 * 1024 * 1024,
      maxWaitMs: maxWaitMs ?? MAX_WAIT_MS,
    },
  })
  const call: Calls['call'] = (op, args, transfer) => calls.call(op, args, transfer)
  const parts = createPartsDesk({
    read: (reference, selector) => call('part', [reference, selector]),
    get: reference => call('get', [reference]),
    elsewhere: elsewhere ?? threadSelect(),
    sizes,
    maxCalls: maxCalls ?? MAX_CALLS,
    maxWaitMs: maxWaitMs ?? MAX_WAIT_MS,
  })

  return {
    put: items => Promise.all(items.map(item => put(item))),
    get: reference => call('get', [reference]),
    async part(reference, selector) {
      const { bytes } = sizes.of({ op: 'part', args: [reference, selector], bytes: 0 })
      if (isCutElsewhere(selector, bytes)) return parts.part(reference, selector)
      const answer = await call('part', [reference, selector])
      // One short reference may name different bodies in two sessions, so a known size may be
      // another body's.
      return answer.ok && 'whole' in answer ? parts.part(reference, selector) : answer
    },
    touch: items => Promise.all(items.map(item => call('touch', [item]))),
    async purgeSession(tenant, session) {
      const first = await call('disownSession', [tenant, session])
      if (!first.ok || first.done) return removed(first)
      const rest = await repeat(() => call('purgeSession', [first.id]))
      return rest.ok ? removed({ ...first, bodies: first.bodies + rest.bodies }) : rest
    },
    async purgeTenant(tenant) {
      const first = await call('disownTenant', [tenant])
      if (!first.ok || first.done) return removed(first)
      const rest = await repeat(() => call('purgeTenant', [first.id]))
      return rest.ok ? removed(first) : rest
    },
    readRecord: key => call('readRecord', [key]),
    writeRecord(write) {
      const value = new Uint8Array(write.value)
      return call('writeRecord', [{ ...write, value }], [value.buffer])
    },
    deleteRecord: (key, ifVersion) => call('deleteRecord', [key, ifVersion]),
    prune: () => repeat(() => call('expire', [])),
    async verify(limit, cursor = FIRST_ROW) {
      if (!ROW.test(cursor)) return fail('invalid_request', 'the cursor is not one of this store')
      const step = await call('verify', [limit, Number(cursor)])
      if (!step.ok) return step
      const removal = step.damaged === 0 ? step : await call('removeDamaged', [])
      if (!removal.ok) return removal
      return { ...step, cursor: step.cursor === null ? null : String(step.cursor) }
    },
    stats: tenant => call('stats', [tenant]),
    get load() {
      const { load } = calls
      const pending = load.pending + parts.waiting
      return { ...load, pending, refused: load.refused + parts.refused }
    },
    async close() {
      await parts.close()
      await calls.close()
    },
  }

  function put({ transfer, hash: _, compressed: __, ...item }: PutItem) {
    const { body } = item
    // This copies only these bytes; a clone would include the whole buffer of the view.
    const whole = body.byteLength === body.buffer.byteLength && body.buffer instanceof ArrayBuffer
    const own = transfer === true && whole ? body : new Uint8Array(body)
    return call('put', [{ ...item, body: own }], [own.buffer as ArrayBuffer])
  }
}

/** Repeats a step until it is done; adds up what the steps removed. */
async function repeat(
  step: () => Promise<Result<Removed & { readonly done: boolean }>>,
): Promise<Result<Removed>> {
  let bodies = 0
  let records = 0
  for (;;) {
    const result = await step()
    if (!result.ok) return result
    bodies += result.bodies
    records += result.records
    if (result.done) return { ok: true, bodies, records }
  }
}

/** A step's answer without what only the next step needs. */
function removed(step: Result<Removed>): Result<Removed> {
  return step.ok ? { ok: true, bodies: step.bodies, records: step.records } : step
}
