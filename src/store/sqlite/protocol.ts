/**
 * The messages between the façade and the thread. Bodies travel in buffers of their own,
 * transferred.
 */

import type { StoreEvent } from '../values/store-event.ts'
import type { StoreState } from '../values/store-figures.ts'
import type { Engine } from './engine.ts'

type Operations = Engine['reads'] & Engine['writes']
export type OperationName = keyof Operations
export type Arguments<K extends OperationName> = Parameters<Operations[K]>
export type Answer<K extends OperationName> = ReturnType<Operations[K]>

const READS: ReadonlySet<string> = new Set<keyof Engine['reads']>([
  'get',
  'part',
  'readRecord',
  'stats',
  'verify',
])

/** Short operations for which a health check or a session waits. They go before all others. */
const URGENT: ReadonlySet<string> = new Set<OperationName>(['stats', 'readRecord', 'touch'])

/** Whether an operation needs a write transaction. */
export function isWrite(op: OperationName): op is keyof Engine['writes'] {
  return !READS.has(op)
}

export function isUrgent(op: OperationName): boolean {
  return URGENT.has(op)
}

export interface Call {
  readonly id: number
  readonly op: OperationName
  readonly args: readonly unknown[]
  /** Bytes of bodies in `args`. */
  readonly bytes: number
}

export type ToThread =
  | {
      readonly kind: 'calls'
      readonly calls: readonly Call[]
      /** Bytes of answers that were read since the last message. */
      readonly read_bytes: number
    }
  | { readonly kind: 'close' }

export interface Settled {
  readonly id: number
  readonly result: Answer<OperationName>
  /** How long the thread was busy with it, its part of the commit included, in microseconds. */
  readonly us: number
}

export type FromThread =
  | { readonly kind: 'ready' }
  /** The file could not be opened at the start. */
  | { readonly kind: 'unusable'; readonly detail: string }
  | { readonly kind: 'answers'; readonly answers: readonly Settled[]; readonly bytes: number }
  | { readonly kind: 'event'; readonly event: StoreEvent }
  /** Sent when it changes; `open` before that. */
  | { readonly kind: 'state'; readonly state: StoreState }
  | { readonly kind: 'closed' }

/** Buffers of an answer, which are transferred. */
export function buffersOf(result: Settled['result']): ArrayBuffer[] {
  if (!result.ok) return []
  const views: Uint8Array[] = []
  if ('body' in result) views.push(result.body)
  if ('whole' in result) views.push(result.whole.packed)
  if ('part' in result) views.push(result.part.content)
  if ('value' in result) views.push(result.value)
  return views.map(view => view.buffer as ArrayBuffer)
}
