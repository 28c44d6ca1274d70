import type { Clock } from './clock.ts'
import type { Era, ServerFacts } from './connection.ts'

/** Which era a server was of, and until when that is believed. */
export interface Verdict {
  readonly era: Era
  readonly version: string
  readonly until: number
}

/** By server and credential. */
export type Verdicts = Map<string, Verdict>

const DAY_MS = 24 * 60 * 60 * 1000

export function keepVerdict(
  verdicts: Verdicts,
  key: string,
  clock: Clock,
  { era, protocolVersion }: ServerFacts,
): void {
  verdicts.set(key, { era, version: protocolVersion, until: clock.now() + DAY_MS })
}

/** What is believed of a server; `undefined` if it must be asked. */
export function currentVerdict(verdicts: Verdicts, key: string, clock: Clock): Verdict | undefined {
  const verdict = verdicts.get(key)
  if (verdict === undefined || clock.now() < verdict.until) return verdict
  verdicts.delete(key)
  return undefined
}
