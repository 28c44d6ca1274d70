import { hash } from 'node:crypto'
import type { KeepItem } from '../contract/operation-result.ts'
import { HINT_FAMILIES } from '../hints/hint.ts'
import { CHAIN_CALLS, type HintGate, NONE_SENT, type SentHints } from '../hints/policy.ts'
import { sessionKey } from '../sessions/index/session-index.ts'
import { createCallMemory, type Dependency, type Seen } from '../sessions/turn/call-memory.ts'
import {
  createHintNotes,
  createLastFormat,
  createSearchNotes,
  type LastFormat,
  type SearchNotes,
} from '../sessions/turn/context-notes.ts'
import { NEAR_FORMAT } from '../sessions/turn/decode-references.ts'
import { takesPart } from '../sessions/turn/dedup-terms.ts'
import { refIn } from '../sessions/turn/long-references.ts'
import { contextKey, invalidateBy, openTurn, type SessionTurn } from '../sessions/turn/open-turn.ts'
import { referToLastWhole } from '../sessions/turn/refer-to-changes.ts'
import {
  type ReferOptions,
  referAgain,
  referToLines,
  referToResult,
} from '../sessions/turn/refer-to-earlier.ts'
import type { Referral } from '../sessions/turn/referral.ts'
import type { SessionContext } from '../sessions/turn/shared-sessions.ts'
import { endpointName } from '../telemetry/endpoint-class.ts'
import { isSearch } from './is-search.ts'
import type { LayerInput } from './layer.ts'
import type { Profile } from './profile/resolve.ts'
import type { PipelineContext } from './read-input.ts'
import { type Delivery, recordingOf } from './session-recording.ts'
import { labelOf } from './wrapped-format.ts'

/** L0: a result's place in its session, from its arrival to its answer. */
export interface SessionLayer extends SentHints {
  /** Compactions so far. */
  readonly partition: number
  /** The id by which later answers name this result, if it is recorded. */
  readonly ref: string | undefined
  /** SHA-256 of the content, hexadecimal, if it was computed. */
  readonly identity?: string
  /** The first answer of a retry, if it depended on the session at that time. */
  past(): PastAnswer | null
  /** The content as a reference to one earlier result. */
  toResult(gate: HintGate): Referral | null
  /** The content as what changed since the last whole result of the same call. */
  toChanges(gate: HintGate): Referral | null
  /** The content with lines replaced by references. */
  toLines(gate: HintGate): Referral | null
  /**
   * The format, without its version, that the endpoint's last result was written in when the call
   * came first; `undefined` if it has none, or none is known.
   */
  lastFormat(): string | undefined
  /**
   * How many of the last `CHAIN_CALLS` - 1 calls were searches when the call came first. Asked for
   * only if the family `search_chain` is on.
   */
  searchesBefore(): number
  /**
   * Records the result as it is delivered, counts it, and notes the answer for a retry.
   * @returns the texts to keep before the answer leaves, or `null` if a dependency is gone
   * meanwhile: then the answer must not be sent
   */
  deliver(delivery: Delivery, referral: Referral | null): readonly KeepItem[] | null
}

interface PastAnswer {
  readonly answer: object
  readonly keep: readonly KeepItem[]
  readonly dependencies: readonly Dependency[]
}

/** The fields of a request that a session uses. The answer also depends on the other fields. */
type SessionRequest = LayerInput['request'] & { readonly session: string }

/** More hints than a session is ever sent. */
const NO_LIMIT = 0xffff

/** How a result finds what its agent has already. */
export type OpenLayer = (
  op: string,
  input: Pick<LayerInput, 'request' | 'content' | 'prices'>,
  profile: Profile,
  context: Pick<PipelineContext, 'sessions' | 'maxDecodedChars'>,
) => SessionLayer | null

/**
 * `null` without a session, and for results of a sub-agent: its context is another one, which is
 * not named.
 * @param op the operation: each has answers of its own
 */
export const openSessionLayer: OpenLayer = (op, input, profile, { sessions, maxDecodedChars }) => {
  const { content } = input
  const { session, ...rest } = input.request
  if (sessions === undefined || session === undefined) return null
  const { tenant, index, bodies, isDetached, counted } = sessions
  const request = { ...rest, session }
  const key = sessionKey(tenant, session)
  if (request.is_sidechain === true) {
    if (isDetached !== true) invalidateBy(index, key, request, profile.dedup)
    return null
  }
  const present = index.present(key)
  const name = nameOf(request, sessions)
  const identity = contentId(content)
  const memoryIn = (epoch: number) => {
    if (name === undefined) return undefined
    return createCallMemory(bodies, contextKey(key, epoch), {
      name,
      identity,
      options: optionsOf(op, request),
    })
  }
  const known = present === null ? undefined : memoryIn(present.epoch)
  if (isDetached === true || known?.isDetached()) {
    // The answer of an earlier job stays valid, for the time when it can be kept again.
    const before = known?.answered() ?? null
    if (before === null || before.attempt === sessions.attempt) known?.noteDetached()
    const seen = known?.seen() ?? null
    return detachedLayer(present?.partition ?? 0, seen === null ? NONE_SENT : sentBefore(seen))
  }
  invalidateBy(index, key, request, profile.dedup)
  const call = { name, identity, memory: known, epoch: present?.epoch ?? 0, counted }
  const here = openTurn(index, key, { ...request, content }, call, sessions.nowMs)
  const memory = here.turn.epoch === present?.epoch ? known : memoryIn(here.turn.epoch)
  const sent = here.seen ?? sentTo(sessions, here, profile)
  // If a result was counted elsewhere, the number is known there.
  const isKnown = counted !== undefined && sent.sent.length === 0 && sent.since === undefined
  // Other processes would not know it, and answer a retry in another way.
  const isCompared = profile.hints.comparesFormats && present?.isShared !== true
  const formats = isCompared
    ? createLastFormat(bodies, here.context, endpointName(request.tool, request.args))
    : undefined
  const format = here.seen === null ? formats?.read() : here.seen.format
  const searchNotes = profile.hints.types.search_chain.enabled
    ? createSearchNotes(bodies, here.context)
    : undefined
  const { sequence } = here.turn
  const searches =
    (here.seen ? here.seen.searches : searchNotes?.before(sequence, CHAIN_CALLS - 1)) ?? 0
  if (here.seen === null && (!isKnown || format !== undefined || searches > 0)) {
    const asked = { ...(format && { format }), ...(searches > 0 && { searches }) }
    memory?.noteSeen({ sequence, ...sent, ...asked })
  }
  const place = {
    request,
    sessions,
    here,
    memory,
    before: { ...sentBefore(sent), lastFormat: () => format, searchesBefore: () => searches },
    formats,
    searchNotes,
    maxDecodedChars,
  }
  return presentLayer(input, profile, place)
}

type Before = SentHints & Pick<SessionLayer, 'lastFormat' | 'searchesBefore'>

/** The parts of a layer with a session. */
interface Present {
  readonly request: SessionRequest
  readonly sessions: SessionContext
  readonly here: ReturnType<typeof openTurn>
  readonly memory: ReturnType<typeof createCallMemory> | undefined
  /** What the session had been sent when the call came first. */
  readonly before: Before
  readonly formats: LastFormat | undefined
  readonly searchNotes: SearchNotes | undefined
  readonly maxDecodedChars: number
}

function presentLayer(
  { content, prices }: Pick<LayerInput, 'content' | 'prices'>,
  { dedup, hints }: Profile,
  { request, sessions, here, memory, formats, searchNotes, maxDecodedChars, ...rest }: Present,
): SessionLayer {
  const { index, bodies, attempt } = sessions
  const { turn } = here
  const { answered } = turn
  const before = memory?.answered() ?? null
  const isWellFormed = content.isWellFormed()
  const isKept =
    isWellFormed &&
    takesPart(dedup) &&
    request.is_error !== true &&
    content.length >= dedup.minBodyChars
  // The result was recorded before, and may be stale by now, or its thread was lost on the way.
  const isOld = before !== null || answered !== null
  const isNew = isKept && !isOld
  const recording = recordingOf(content, dedup, { request, sessions, here, isKept, isNew, isOld })
  const options = (gate: HintGate): ReferOptions => {
    const { counter, baseline } = prices
    const namesNear = namesFormat(request.formats, NEAR_FORMAT)
    return { index, bodies, dedup, gate, counter, baseline, maxBytes: maxDecodedChars, namesNear }
  }

  function count({ counters, families, format }: Delivery, referral: Referral | null): void {
    if (referral === null) formats?.write(labelOf(format))
    if (searchNotes && isSearch(request.tool, () => request.args)) searchNotes.write(turn.sequence)
    index.count(turn.key, counters)
    const all = new Set(families)
    const numbers = HINT_FAMILIES.flatMap((family, i) => (all.has(family) ? [i] : []))
    for (const family of numbers) index.takeHint(turn.key, family, NO_LIMIT)
    if (numbers.length > 0 && hasInterval(hints)) {
      createHintNotes(bodies, here.context).write(turn.sequence, numbers)
    }
  }

  /** Whether the agent's context and what it holds are as they were when the turn began. */
  function isStillTrue({ kind, entry }: Referral): boolean {
    if (kind === 'exact') return index.refer(turn, entry!, here.callHash)
    return index.present(turn.key)?.epoch === turn.epoch
  }

  /** Whether a retry will get the answer again. */
  function note({ answer }: Delivery, referral: Referral | null): boolean {
    if (memory === undefined || before !== null) return true
    if (referral === null) return memory.noteAnswered({ attempt, by: 'itself' })
    return memory.noteAnswered({
      attempt,
      by: 'session',
      answer,
      dependencies: referral.dependencies,
    })
  }

  return {
    partition: turn.partition,
    ref: isKept ? refIn(bodies, here.context, here.identity) : undefined,
    identity: here.identity,
    past() {
      if (before?.by !== 'session') return null
      const { answer, dependencies } = before
      return { answer, keep: recording.record('lines', 0, {}), dependencies }
    },
    toResult(gate) {
      if (isNew) return referToResult(content, here, options(gate))
      const isReference = isKept && before === null && answered?.as === 'reference'
      return isReference ? referAgain(answered.entry, here, options(gate)) : null
    },
    toChanges: gate => (isNew ? referToLastWhole(content, here, request, options(gate)) : null),
    toLines: gate => (isNew ? referToLines(content, here, options(gate)) : null),
    ...rest.before,
    deliver(delivery, referral) {
      if (referral !== null && !isStillTrue(referral)) return null
      // If there is no room for the note, the answer must not depend on the session, so that a
      // retry gets the same.
      const isNoted = note(delivery, referral)
      if (!isNoted && referral !== null && referral.kind !== 'exact') return null
      if (before === null && answered === null) count(delivery, referral)
      return recording.recordAs(delivery, referral)
    },
  }
}

/** The layer of a detached answer, which uses nothing of the session and leaves nothing there. */
export function detachedLayer(partition: number, sent: SentHints): SessionLayer {
  const none = () => null
  return {
    partition,
    ref: undefined,
    past: none,
    toResult: none,
    toChanges: none,
    toLines: none,
    ...sent,
    lastFormat: () => undefined,
    searchesBefore: () => 0,
    deliver: (_, referral) => (referral === null ? [] : null),
  }
}

/** Whether a request lists a format, by name or with its version. */
export function namesFormat(formats: readonly string[] | undefined, format: string): boolean {
  return formats?.some(each => each === format || format.startsWith(`${each}@`)) === true
}

/** The name that a retry, also of a job after a lost thread, has in common with its call. */
function nameOf({ tool_call_id }: SessionRequest, { attempt }: SessionContext): string | undefined {
  if (tool_call_id !== undefined) return callName(tool_call_id)
  return attempt === undefined ? undefined : `job ${attempt}`
}

/** The name of a call that the agent has named. */
export function callName(toolCallId: string): string {
  return `call ${toolCallId}`
}

/**
 * SHA-256 of the UTF-8 bytes. For text that has none, of its UTF-16, which only distinguishes it
 * from others.
 */
export function contentId(content: string): string {
  return hash('sha256', content.isWellFormed() ? content : Buffer.from(content, 'utf16le'), 'hex')
}

/** Everything that an answer depends on besides its content and the session. */
function optionsOf(op: string, request: SessionRequest): string {
  const { args, content, input_ref, session, ...options } = request
  return JSON.stringify([op, options])
}

/** The hints that the session was sent so far, as far as the policy asks for them. */
function sentTo(
  { index, bodies }: SessionContext,
  { turn, context }: Pick<SessionTurn, 'turn' | 'context'>,
  { hints }: Profile,
): Pick<Seen, 'sent' | 'since'> {
  const rules = HINT_FAMILIES.map(family => hints.types[family])
  const isLimited = rules.some(rule => rule.max_per_session !== undefined)
  const sent = isLimited ? (index.summary(turn.key)?.hints ?? []) : []
  if (!hasInterval(hints)) return { sent }
  const notes = createHintNotes(bodies, context)
  const since = rules.map(({ interval_results: interval = 1 }, family) =>
    notes.since(turn.sequence, family, interval - 1),
  )
  return { sent, since }
}

function hasInterval({ types }: Profile['hints']): boolean {
  return HINT_FAMILIES.some(family => (types[family].interval_results ?? 1) > 1)
}

/** What the session had been sent when the call came first. */
function sentBefore({ sent, since = [] }: Pick<Seen, 'sent' | 'since'>): SentHints {
  return {
    sentInSession: family => sent[HINT_FAMILIES.indexOf(family)] ?? 0,
    resultsSince: family => since[HINT_FAMILIES.indexOf(family)] || Infinity,
  }
}
