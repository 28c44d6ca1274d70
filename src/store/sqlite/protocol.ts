import type { StoreEvent } from '../store.ts'
import type { Engine } from './engine.ts'

/** The messages between the façade and the thread. Bodies travel in buffers of their own, transferred. */

type Operations = Engine['reads'] & Engine['writes']
export type OperationName = keyof Operations
export type Arguments<K extends OperationName> = Parameters<Operations[K]>
export type Answer<K extends OperationName> = ReturnType<Operations[K]>

export interface Call {
  readonly id: number
  readonly op: OperationName
  readonly args: readonly unknown[]
  /** Of bodies in `args`. */
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
}

export type FromThread =
  | { readonly kind: 'ready' }
  /** The file could not be opened at the start. */
  | { readonly kind: 'unusable'; readonly detail: string }
  | { readonly kind: 'answers'; readonly answers: readonly Settled[]; readonly bytes: number }
  | { readonly kind: 'event'; readonly event: StoreEvent }
  | { readonly kind: 'closed' }

/** Buffers of an answer, which are handed over. */
export function buffersOf(result: Settled['result']): ArrayBuffer[] {
  if (!result.ok) return []
  const views: Uint8Array[] = []
  if ('body' in result) views.push(result.body)
  if ('part' in result) views.push(result.part.content)
  if ('value' in result) views.push(result.value)
  return views.map(view => view.buffer as ArrayBuffer)
}
