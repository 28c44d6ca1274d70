import type { ResultTexts } from '../core/contract/result-row.ts'
import type { ResponseFacts } from '../core/telemetry/event.ts'
import type { Origin } from './rows/day-sums.ts'
import type { Turn } from './rows/turn.ts'

/** A result that arrived. */
export interface ArrivedResult {
  readonly tenant: string
  /** Unix milliseconds. */
  readonly at: number
  /** The operation or proxy that it came through. */
  readonly source: string
  /** The conversation that a proxy knows; absent: that of the row. */
  readonly conversation?: string
  /** The model, if that is known. */
  readonly model?: string
  /** Absent: nothing is known of it. */
  readonly origin?: Origin
  /** Whether it is sent to another service of ours, which counts it again. */
  readonly isPassedOn?: boolean
  /** `ResultRow` as JSON. */
  readonly row: string
  /** It was counted before: the ledger has no row of it. */
  readonly only?: 'telemetry'
  /** Absent: they are not kept. */
  readonly texts?: ResultTexts
}

/** A text that was fetched again, whole or in part. */
export interface ArrivedFetch {
  readonly tenant: string
  readonly at: number
  /** The first digits of its hash. */
  readonly original: string
  readonly bytes: number
}

/** An offered call, a fetch, or an unsent call: what telemetry has of no result. */
export interface ArrivedOffer {
  readonly tenant: string
  /** Unix milliseconds. */
  readonly at: number
  readonly session: string | null
  /** The call and the tokens of its result, which are the baseline; absent: no call is named. */
  readonly call?: {
    readonly server: string
    readonly tool: string
    readonly key: string
    readonly tokens: number
  }
  readonly facts: Partial<ResponseFacts>
}

/** What waits to be written, in the order in which it came. */
export type Arrival =
  | (ArrivedResult & { readonly kind: 'result' })
  | (Turn & { readonly kind: 'turn' })
  | (ArrivedFetch & { readonly kind: 'fetch' })
  | (ArrivedOffer & { readonly kind: 'offer' })
  /** A session was closed: later results under its id begin another one. */
  | { readonly kind: 'end'; readonly tenant: string; readonly session: string }

/** What the ledger has a row of. */
export function isRow(
  arrival: Arrival,
): arrival is Arrival & { kind: 'result' | 'turn' | 'fetch' } {
  if (arrival.kind === 'result') return arrival.only !== 'telemetry'
  return arrival.kind === 'turn' || arrival.kind === 'fetch'
}
