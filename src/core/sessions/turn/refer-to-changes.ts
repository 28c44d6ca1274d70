import { parseJson } from '../../json/parse-json.ts'
import type { Entry, SessionIndex } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { writeChanges } from '../near/change-text.ts'
import { CHANGES_FORMAT, isOfChanges } from '../near/changes-format.ts'
import { collectChanges } from '../near/collect-changes.ts'
import { MIN_BODY_BYTES } from '../near/find-changes.ts'
import { type CallFacts, hash32 } from './call-facts.ts'
import { createEarlierResults, type NamedTurn, pollIn } from './earlier-results.ts'
import { refIn } from './long-references.ts'
import type { SessionTurn } from './open-turn.ts'
import type { LinesOptions, ReferOptions } from './refer-to-earlier.ts'
import type { Referral } from './referral.ts'

/** Calls ago, at most, that the whole result was sent. */
export const MAX_CALLS_AGO = 8

/** The content as what changed since the last whole result of the same call. */
export function referToLastWhole(
  content: string,
  here: SessionTurn,
  call: CallFacts,
  options: ReferOptions,
): Referral | null {
  const { index, bodies, dedup } = options
  const entry = dedup.near ? lastWhole(index, bodies, here, call) : undefined
  const found = entry && referToChanges(content, entry.identity, here, options)
  return found ? { ...found, entry: entry! } : null
}

/**
 * The last result of the same tool and arguments that a reader has whole, if it is at most eight
 * calls ago.
 */
function lastWhole(
  index: Pick<SessionIndex, 'entries'>,
  bodies: BodyMemory,
  { turn, context }: Pick<SessionTurn, 'turn' | 'context'>,
  call: CallFacts,
): Entry | undefined {
  const toolHash = hash32(call.tool)
  let last: Entry | undefined
  let lastSequence = Math.max(1, turn.sequence - MAX_CALLS_AGO) - 1
  for (const entry of index.entries(turn.key)) {
    if (entry.toolHash !== toolHash || entry.answer !== 'full') continue
    const sequence = pollIn(bodies, context, entry.identity, call)
    if (sequence === undefined || sequence >= turn.sequence || sequence <= lastSequence) continue
    last = entry
    lastSequence = sequence
  }
  return last
}

/**
 * The content as the scalars and rows that changed since an earlier result. Returns `null` if it
 * differs in more, if the hint is not allowed, or if that result is not known to be retrievable.
 */
export function referToChanges(
  content: string,
  identity: string,
  here: NamedTurn & Pick<SessionTurn, 'session'>,
  { bodies, dedup, gate, counter, baseline, maxBytes }: LinesOptions,
): Referral | null {
  const isLong = Buffer.byteLength(content) >= MIN_BODY_BYTES
  // If turns may be missing, no reader knows which of the calls is meant.
  if (!dedup.near || !isLong || here.isUnsure === true) return null
  const result = createEarlierResults(bodies, here)(identity)
  const earlier = result === undefined ? null : bodies.read(identity, here.context)
  if (result === undefined || earlier === null || Buffer.byteLength(earlier) > maxBytes) return null
  const [before, now] = [parseJson(earlier), parseJson(content)]
  if (!before.ok || !now.ok) return null
  const changes = collectChanges(before.value, now.value)
  if (changes === null || changes.length === 0) return null
  const list = writeChanges(changes)
  const line = gate.admit(
    { family: 'near_reference', ...result, changes: [] },
    { saved_tokens: baseline - counter.count(list), counter, verbosity: dedup.verbosity },
  )
  if (line === null) return null
  const written = `${line}\n${list}`
  if (!isOfChanges(written, earlier, now.value)) return null
  const ref = refIn(bodies, here.context, identity)
  return {
    kind: 'near',
    content: written,
    format: CHANGES_FORMAT,
    hints: [{ family: 'near_reference', text: line }],
    dependencies: [{ session: here.session, ref, identity, context: here.context }],
  }
}
