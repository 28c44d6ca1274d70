import { hash } from 'node:crypto'
import { AppError } from '../../base/errors.ts'
import type { Hint, HintFamily } from '../../hints/hint.ts'
import type { HintGate } from '../../hints/policy.ts'
import type { TokenCounter } from '../../tokens/counter.ts'
import type { Entry, SessionIndex } from '../index/session-index.ts'
import type { BodyMemory } from '../lines/body-memory.ts'
import { coveredInParts, linesCovered } from '../lines/covered-lines.ts'
import { encodeLines, type LinePlan, planLines } from '../lines/plan-lines.ts'
import type { EarlierResult } from '../lines/reference-line.ts'
import { type ScannedText, scanText } from '../lines/scan-text.ts'
import { stringBodies } from '../lines/string-bodies.ts'
import { findChanges, MAX_DELTA_BYTES } from '../near/find-changes.ts'
import type { Dependency } from './call-memory.ts'
import {
  decodeReferences,
  LINES_FORMAT,
  MAX_REFERENCES,
  NEAR_FORMAT,
  REFERENCE_FORMAT,
} from './decode-references.ts'
import type { DedupTerms } from './dedup-terms.ts'
import { createEarlierResults, type NamedTurn } from './earlier-results.ts'
import { refIn, shortRef } from './long-references.ts'
import type { SessionTurn } from './open-turn.ts'
import type { Referral } from './referral.ts'
import { layOutStrings } from './string-lines.ts'

/** The prices by which a content is compared with earlier ones. */
export interface LinesOptions {
  readonly bodies: BodyMemory
  readonly dedup: DedupTerms
  readonly gate: HintGate
  readonly counter: TokenCounter
  /** Tokens of the unchanged content. */
  readonly baseline: number
  /**
   * Most bytes of all the bodies that one answer refers to, because a decoder may fetch no more.
   */
  readonly maxBytes: number
  /** Whether the request names the format of references with old values and new ones. */
  readonly namesNear: boolean
}

/** The same, with the session's recent results. */
export interface ReferOptions extends LinesOptions {
  readonly index: SessionIndex
}

/** A result whose lines may be replaced by references. */
export type LinesTurn = NamedTurn & Pick<SessionTurn, 'session' | 'scan'>

/**
 * The content as a reference to one earlier result, equal or nearly equal. Returns `null` if that
 * is not allowed, saves too little, or is not known to be retrievable.
 */
export function referToResult(
  content: string,
  here: SessionTurn,
  options: ReferOptions,
): Referral | null {
  const { bodies, index, dedup } = options
  const find = createEarlierResults(bodies, here)
  const { match } = here.turn
  if (dedup.exact && match !== null) {
    const result = find(match.identity)
    const sent = result === undefined ? null : send({ family: 'reference', ...result }, options)
    if (sent !== null)
      return of(match, referral('exact', REFERENCE_FORMAT, sent, match.identity, here, bodies))
  }
  const near = nearest(content, () => index.entries(here.turn.key), here, options)
  return near && of(near.entry, near.referral)
}

/** The reference that a retry was answered with the first time. */
export function referAgain(
  entry: Entry,
  here: SessionTurn,
  options: ReferOptions,
): Referral | null {
  const result = createEarlierResults(options.bodies, here)(entry.identity)
  const sent = result === undefined ? null : send({ family: 'reference', ...result }, options)
  if (sent === null) return null
  return of(entry, referral('exact', REFERENCE_FORMAT, sent, entry.identity, here, options.bodies))
}

/**
 * The content as a reference to the very same one, which came earlier in this context, as
 * `referToResult` would write it.
 */
export function referToSame(
  identity: string,
  here: NamedTurn & Pick<SessionTurn, 'session'>,
  options: LinesOptions,
): Referral | null {
  const result = createEarlierResults(options.bodies, here)(identity)
  const sent = result === undefined ? null : send({ family: 'reference', ...result }, options)
  return sent === null
    ? null
    : referral('exact', REFERENCE_FORMAT, sent, identity, here, options.bodies)
}

/** An earlier result that a content may nearly equal. */
type NearEntry = Pick<Entry, 'identity' | 'bytes'>

/**
 * The content as a reference to one of these results, which came earlier in this context, with a
 * few scalars changed. The first that fits counts.
 */
export function referToNear(
  content: string,
  entries: () => Iterable<NearEntry>,
  here: NamedTurn & Pick<SessionTurn, 'session'>,
  options: LinesOptions,
): Referral | null {
  return nearest(content, entries, here, options)?.referral ?? null
}

function nearest<E extends NearEntry>(
  content: string,
  entries: () => Iterable<E>,
  here: NamedTurn & Pick<SessionTurn, 'session'>,
  options: LinesOptions,
): { readonly entry: E; readonly referral: Referral } | null {
  const { dedup, bodies, namesNear } = options
  if (!namesNear || !dedup.near || !content.startsWith('{')) return null
  const find = createEarlierResults(bodies, here)
  for (const entry of entries()) {
    const { identity } = entry
    const sent = nearTo(content, entry, find(identity), here, options)
    if (sent === null) continue
    return { entry, referral: referral('near', NEAR_FORMAT, sent, identity, here, bodies) }
  }
  return null
}

/** A hint that is admitted, as it is sent. */
interface SentReference {
  readonly family: HintFamily
  readonly text: string
}

function send(hint: Hint, { gate, counter, baseline, dedup }: LinesOptions): SentReference | null {
  const { verbosity } = dedup
  const text = gate.admit(hint, { saved_tokens: baseline, counter, verbosity })
  return text === null ? null : { family: hint.family, text }
}

function nearTo(
  content: string,
  { identity, bytes }: Pick<Entry, 'identity' | 'bytes'>,
  result: EarlierResult | undefined,
  { context }: Pick<SessionTurn, 'context'>,
  options: LinesOptions,
): SentReference | null {
  const { bodies } = options
  // This is cheaper than reading the body: every character has one to three bytes.
  if (result === undefined || bytes > 3 * content.length + MAX_DELTA_BYTES) return null
  const earlier = bodies.read(identity, context)
  const changes = earlier === null ? null : findChanges(earlier, content)
  if (earlier === null || changes === null) return null
  const sent = send({ family: 'near_reference', ...result, changes }, options)
  return sent !== null && isNearTo(sent.text, earlier, content) ? sent : null
}

/** The gate: the hint as it is sent, and the earlier text, must give the very text again. */
function isNearTo(line: string, earlier: string, content: string): boolean {
  return isRestored(content, () =>
    decodeReferences(line, NEAR_FORMAT, () => earlier, content.length),
  )
}

function referral(
  kind: 'exact' | 'near',
  format: string,
  sent: SentReference,
  identity: string,
  here: Pick<SessionTurn, 'session' | 'context'>,
  bodies: BodyMemory,
): Referral {
  const dependencies = [dependencyOn(identity, here, bodies)]
  return { kind, content: sent.text, format, hints: [sent], dependencies }
}

function of(entry: Entry, referral: Referral): Referral {
  return { ...referral, entry }
}

function dependencyOn(
  identity: string,
  { session, context }: Pick<SessionTurn, 'session' | 'context'>,
  bodies: BodyMemory,
): Dependency {
  return { session, ref: refIn(bodies, context, identity), identity, context }
}

/**
 * The content with references for lines that the agent already has, if that is allowed and saves
 * tokens.
 */
export function referToLines(
  content: string,
  here: LinesTurn,
  options: LinesOptions,
): Referral | null {
  if (!options.dedup.lines) return null
  const text = here.scan()
  const bare = text && referIn(text, LINES_FORMAT, content, here, options)
  return bare ?? referInStrings(content, here, options)
}

/** The same for lines of texts in strings of JSON. */
function referInStrings(content: string, here: LinesTurn, options: LinesOptions): Referral | null {
  let best: Referral | null = null
  let lowest = Number.POSITIVE_INFINITY
  const { bodies, counter } = options
  const isKnown = (text: string) =>
    bodies.noteOf(hash('sha256', text, 'hex'), here.context) !== null
  for (const { text, format, json } of layOutStrings(content, counter, isKnown)) {
    const scanned = scanText(text, here.context)
    const found = scanned && referIn(scanned, format, json, here, options)
    if (found === null) return best
    const tokens = counter.count(found.content)
    if (tokens < lowest) {
      const texts = stringBodies(content).map(({ text: inner }) => inner)
      best = { ...found, covered: coveredInParts(scanned!.bytes, found.covered ?? [], texts) }
    }
    lowest = Math.min(lowest, tokens)
  }
  return best
}

/** @param original what decoding must give */
function referIn(
  text: ScannedText,
  format: string,
  original: string,
  here: LinesTurn,
  options: LinesOptions,
): Referral | null {
  const { bodies: memory, dedup, counter } = options
  const find = createEarlierResults(memory, here, { byLine: true })
  const plan = planLines(
    text,
    { memory, key: here.context, find },
    {
      counter,
      verbosity: dedup.verbosity,
      terms: dedup.references,
      referableBlocks: dedup.hostBlocks,
    },
  )
  if (plan === null) return null
  const identities = [...new Set(plan.runs.map(({ identity }) => identity))]
  const bodies = readBodies(identities, here, options)
  if (bodies === null || !isAdmitted(plan, options)) return null
  const written = encodeLines(plan)
  if (!restores(written, format, original, bodies)) return null
  return {
    kind: 'lines',
    content: written,
    format,
    hints: plan.runs.map(({ reference }) => ({ family: 'lines', text: reference })),
    dependencies: identities.map(identity => dependencyOn(identity, here, memory)),
    covered: linesCovered(plan.runs),
    ...(format === LINES_FORMAT && { runs: plan.runs }),
  }
}

/**
 * The bodies of an answer by their ids, as its decoder fetches them. Returns `null` if it could
 * not.
 */
function readBodies(
  identities: readonly string[],
  { context }: LinesTurn,
  { bodies: memory, maxBytes }: LinesOptions,
): ReadonlyMap<string, string> | null {
  if (identities.length > MAX_REFERENCES) return null
  const bodies = new Map<string, string>()
  let bytes = 0
  for (const identity of identities) {
    const text = memory.read(identity, context)
    if (text === null) return null
    bytes += Buffer.byteLength(text)
    if (bytes > maxBytes) return null
    bodies.set(refIn(memory, context, identity), text)
  }
  return bodies
}

/** The gate: what is sent must give the very text again. */
function restores(
  answer: string,
  format: string,
  original: string,
  bodies: ReadonlyMap<string, string>,
): boolean {
  return isRestored(original, () => {
    return decodeReferences(answer, format, ref => bodies.get(ref), original.length)
  })
}

function isRestored(original: string, decode: () => string): boolean {
  try {
    return decode() === original
  } catch (error) {
    if (error instanceof AppError) return false
    throw error
  }
}

/**
 * All references of an answer are one hint to the policy. Each of them saves tokens by itself
 * already, and the whole is compared with other ways to write it. So the rule for single hints does
 * not apply.
 */
function isAdmitted({ runs }: LinePlan, { gate, counter }: LinesOptions): boolean {
  const hint = { family: 'lines', ref: shortRef(runs[0]!.identity), first: 1, last: 1 } as const
  return gate.admit(hint, { saved_tokens: Number.POSITIVE_INFINITY, counter }) !== null
}
