import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type SelectElsewhere, selectOwn } from '../../../src/store/parts/select-elsewhere.ts'
import { type OpenStoreOptions, openSqliteStore } from '../../../src/store/sqlite/client.ts'
import type { CommitsOptions } from '../../../src/store/sqlite/commits.ts'
import type { Kept, Result } from '../../../src/store/store.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { ownStore } from '../../support/own-store.ts'

/** A clock that moves only when told. */
export interface FakeClock {
  now: number
}

export const START = Date.UTC(2030, 0, 1)
export const MINUTE = 60_000

/** A folder that goes with the test. */
export function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface InlineOptions extends Partial<Omit<OpenStoreOptions, 'connect' | 'onEvent'>> {
  readonly clock?: FakeClock
  readonly open?: CommitsOptions['open']
  /** How often what has expired is swept; in the product once a second. */
  readonly upkeepMs?: number
}

/** Longer than any test: nothing is swept but by a call. */
export const NEVER_SWEPT = 3_600_000

/** The whole store but the thread: the same loop over the same commits, in this one. */
export async function inlineStore({
  clock = { now: START },
  open,
  upkeepMs = 20,
  ...options
}: InlineOptions = {}) {
  const events: StoreEvent[] = []
  const folder = options.folder ?? tempFolder()
  const inline = ownStore(
    { ...options, folder },
    { clock: () => clock.now, upkeepMs, ...(open === undefined ? {} : { open }) },
  )
  const onEvent = (event: StoreEvent) => events.push(event)
  const elsewhere: SelectElsewhere = {
    select: async (body, selector) => selectOwn({ body, selector }),
    close: async () => {},
  }
  const { connect } = inline
  const store = await openSqliteStore({ elsewhere, ...options, folder, onEvent, connect })
  onTestFinished(() => store.close())
  return { store, clock, events, folder, endThread: () => inline.end() }
}

export type Put = Omit<
  Parameters<Awaited<ReturnType<typeof inlineStore>>['store']['put']>[0][0],
  'body' | 'mediaType'
>

/** Keeps one text; fails the test if it is refused. */
export async function keep(
  store: Awaited<ReturnType<typeof inlineStore>>['store'],
  body: string | Uint8Array,
  put: Put = { tenant: 'a' },
): Promise<Kept> {
  const [result] = await store.put([{ ...put, body: bytesOf(body), mediaType: 'text/plain' }])
  return must(result)
}

export function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? new TextEncoder().encode(body) : body
}

/** The value of a result that must be one. */
export function must<T>(result: Result<T> | undefined): { readonly ok: true } & T {
  if (result === undefined || !result.ok) throw new Error(`refused: ${JSON.stringify(result)}`)
  return result
}

export function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes)
}

/** Bytes that look random but are the same each time, `size` of them. */
export function noise(size: number, seed: number): Uint8Array {
  const out = new Uint8Array(size)
  let state = (seed * 2654435761 + 1) >>> 0
  for (let i = 0; i < size; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    out[i] = state
  }
  return out
}
