import type { Fingerprint, MergedFingerprint } from '../../../src/core/fingerprints/fingerprint.ts'

/** What a process with teams is told to do. */
export interface Command {
  readonly id: number
  readonly tenant: string
  readonly team: string
  readonly act: 'upload' | 'withdraw' | 'read'
  readonly member?: string
  readonly upload?: { readonly member: string; readonly endpoints: readonly Fingerprint[] }
  /** What its clock is ahead, in milliseconds. */
  readonly ahead: number
}

/** What became of a command. */
export interface Said {
  readonly id: number
  readonly code?: string
  readonly accepted?: number
  readonly document?: { readonly fingerprints: readonly MergedFingerprint[] }
}
