import type { ResponseFacts } from '../core/telemetry/event.ts'
import type { Turn } from './rows/turn.ts'
import type { ArrivedFetch, ArrivedResult } from './rows/write-rows.ts'

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
