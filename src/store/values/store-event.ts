import type { FailureReason } from '../store.ts'

/** What was carried over from a damaged file; `lost`: `null` if it is unknown what it had. */
export interface SalvageEvent {
  readonly kind: 'salvaged'
  readonly moved_to: string
  readonly bodies: number
  readonly lost_bodies: number | null
  readonly records: number
  readonly lost_records: number | null
}

/** What an operator should know; for a log line and a counter. Holds no content. */
export type StoreEvent =
  | { readonly kind: 'damaged_body'; readonly tenant: string; readonly hash: string }
  | { readonly kind: 'damaged_record'; readonly tenant: string; readonly namespace: string }
  | { readonly kind: 'missing_key'; readonly key_id: string }
  /** It was moved aside, and a new one begun; `null`: that failed, or nothing may be moved. */
  | { readonly kind: 'damaged_file'; readonly moved_to: string | null; readonly detail: string }
  /**
   * The log ends early. The missing part was committed, and was not all copied to the main file.
   */
  | { readonly kind: 'damaged_log'; readonly lost_pages: number | null; readonly detail: string }
  | SalvageEvent
  | { readonly kind: 'write_failed'; readonly reason: FailureReason; readonly detail: string }
  | { readonly kind: 'write_recovered' }
  /** The file was removed or another put in its place; what was in it is not kept any more. */
  | { readonly kind: 'file_replaced' }
  /** Other users than the owner may read the folder; `mode` has octal digits. */
  | { readonly kind: 'open_folder'; readonly folder: string; readonly mode: string }
  /** The wall clock jumped ahead. For ten minutes the store's time continues as if it had not. */
  | { readonly kind: 'clock_jumped'; readonly ahead_ms: number }
  /** The server takes no calls; until it does, nothing is kept and nothing is found. */
  | { readonly kind: 'unreachable'; readonly detail: string }
  | { readonly kind: 'reachable'; readonly away_ms: number }
  /**
   * It is another one, or has forgotten. What this process had written in the last seconds was
   * written again; `replaced`: another process had it otherwise; `left`: it cannot be made yet.
   */
  | {
      readonly kind: 'other_server'
      readonly written: number
      readonly replaced: number
      readonly left: number
    }
  /** The server may evict what hints need, so nothing more is kept. */
  | { readonly kind: 'wrong_policy'; readonly policy: string }
  | { readonly kind: 'thread_lost'; readonly detail: string }
  | { readonly kind: 'bug'; readonly detail: string }
