/** How a check came out: `warn` is no fault, but may be what is searched for. */
export type FindingState = 'ok' | 'warn' | 'fail'

/** A line of the report. No text of it is a secret. */
export interface Finding {
  /** What was checked. */
  readonly check: string
  readonly state: FindingState
  /** What was found. */
  readonly found: string
  /** What to do about it; absent if nothing is. */
  readonly advice?: string
}

export const ok = (check: string, found: string): Finding => ({ check, state: 'ok', found })

export const warn = (check: string, found: string, advice: string): Finding => ({
  check,
  state: 'warn',
  found,
  advice,
})

export const fail = (check: string, found: string, advice: string): Finding => ({
  check,
  state: 'fail',
  found,
  advice,
})
