import type { LogLine } from '../../test/support/service-process.ts'
import type { PlayedTurn } from './play-conversation.ts'

/** From when to when a replica could not use the store, in milliseconds since the epoch. */
export interface Outage {
  readonly fromMs: number
  readonly toMs: number
}

/** What turns brought and saved, in tokens of the messages that were new in them. */
export interface Saved {
  turns: number
  changed: number
  raw: number
  sent: number
}

/** All turns: those within an outage of a replica, and those that none was near. */
export interface TurnsByOutage {
  readonly during: Saved
  readonly apart: Saved
}

/** After an outage others may still be told of what was decided in it. */
const AFTER_MS = 1_000

/** The outages that one replica's log tells of. @param endMs of those that are not over */
export function outagesIn(log: readonly LogLine[], endMs: number): readonly Outage[] {
  const found: Outage[] = []
  let fromMs: number | null = null
  for (const { kind, time } of log) {
    if (kind === 'unreachable') fromMs ??= Number(time)
    if (kind !== 'reachable' || fromMs === null) continue
    found.push({ fromMs, toMs: Number(time) })
    fromMs = null
  }
  return fromMs === null ? found : [...found, { fromMs, toMs: endMs }]
}

/** The share of the time of all replicas in which one was without the store. */
export function shareAway(outages: readonly Outage[], replicas: number, runMs: number): number {
  const awayMs = outages.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0)
  return awayMs / (replicas * runMs)
}

/** Sums turns up, apart for those from the start of an outage to a second after it. */
export function byOutage(turns: readonly PlayedTurn[], outages: readonly Outage[]): TurnsByOutage {
  const none = (): Saved => ({ turns: 0, changed: 0, raw: 0, sent: 0 })
  const [during, apart] = [none(), none()]
  for (const { startMs, endMs, isChanged, raw, sent } of turns) {
    const isNear = outages.some(({ fromMs, toMs }) => startMs < toMs + AFTER_MS && endMs > fromMs)
    const sum = isNear ? during : apart
    sum.turns++
    sum.changed += isChanged ? 1 : 0
    sum.raw += raw
    sum.sent += sent
  }
  return { during, apart }
}
