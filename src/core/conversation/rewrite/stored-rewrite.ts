import { hash } from 'node:crypto'
import type { UnitArm } from '../../arms/assign.ts'
import type { ResultArm } from '../../arms/sums.ts'
import { AppError } from '../../base/errors.ts'
import type { SavedPlace } from '../../contract/operation-result.ts'
import type { ReadingLevel } from '../../reading/constructs.ts'
import type { Shown } from '../../sessions/turn/earlier-results.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { SentNote } from './sent-notes.ts'

/** The replacement of a result in a conversation, as it was sent. */
export interface StoredRewrite extends SentNote {
  /** The JSON string literal that is written; `null`: the result's own stays. */
  readonly literal: Uint8Array | null
  readonly saved: SavedTokens
  /** What a reader finds of it; absent: nothing. */
  readonly shown?: Shown
  /** Whether a later result may refer to this one. */
  readonly isSource: boolean
  /** Originals that its markers name, 24 hex digits each. */
  readonly markers: readonly string[]
  /** A digest of the literal, 32 bits; 0 if the result's own stays. */
  readonly digest: number
  /** A sum over what was sent for the results up to this one; see `sumOfSent`. */
  readonly sent: number
  /** Earlier results that are cleared from this one on, by index; absent: none. */
  readonly clears?: readonly number[]
  /** The generation that the conversation keeps, if it is recorded; see `keptGeneration`. */
  readonly generation?: string
  /** The reading level that its first request asked for; absent: none. */
  readonly reading?: ReadingLevel
  /** Its arm, if it is or would have been elided; absent: none was drawn. */
  readonly arm?: ResultArm
  /** The unit's arm, if this is a unit instead of a result. */
  readonly unit?: UnitArm
  /** The turn, if this is a conversation instead of a result; only memory has it. */
  readonly turn?: SeenTurn
}

/** The last turn of a conversation that was read. */
export interface SeenTurn {
  /** When it was read last, in milliseconds since the epoch. */
  readonly at: number
  /** How long before it the turn before was read last; 0 if that is not known. */
  readonly idleMs: number
  /** How often the model had spoken. */
  readonly modelTurns: number
  /** How many results it had, and the name of the last one. */
  readonly results: number
  readonly last: string
}

/** What is recorded of something else than a result. */
export function storedFact(
  fact: Pick<StoredRewrite, 'clears' | 'generation' | 'reading' | 'unit' | 'turn'>,
): StoredRewrite {
  const nothing = { literal: null, saved: NOTHING_SAVED, markers: [], digest: 0, sent: 0 }
  return { ...nothing, isSource: false, ...fact }
}

const DIGEST_DIGITS = 8
const PRIME = 0x01000193

/**
 * Continues the sum over a conversation's results as they were sent, 32 bits (FNV-1a over digests).
 * If two turns have different sums at the same result, they were sent with different prefixes.
 */
export function sumOfSent(before: number, digest: number): number {
  return Math.imul(before ^ digest, PRIME) >>> 0
}

/** The same for the results that are cleared from there on. */
export function sumOfSteps(before: number, clears: readonly number[]): number {
  return clears.reduce((sum, index) => sumOfSent(sum, index + 1), before)
}

/** The digest of a literal. */
export function digestOf(literal: Uint8Array | null): number {
  if (literal === null) return 0
  return Number.parseInt(hash('sha256', literal, 'hex').slice(0, DIGEST_DIGITS), 16)
}

/** Tokens by what saved them. */
export interface SavedTokens {
  /** References to earlier results. */
  readonly referred: number
  readonly encoded: number
  /** Left out, and to be fetched back. */
  readonly elided: number
}

export const NOTHING_SAVED: SavedTokens = { referred: 0, encoded: 0, elided: 0 }

function totalOf({ referred, encoded, elided }: SavedTokens): number {
  return referred + encoded + elided
}

/**
 * Raise it if the meaning of stored bytes changes. Bytes of earlier versions must still be read,
 * because they stay in force.
 */
const VERSION = 1
const LINE_FEED = 0x0a

interface Head extends Omit<StoredRewrite, 'literal' | 'saved' | 'isSource' | 'markers'> {
  readonly v: number
  readonly saved: readonly [referred: number, encoded: number, elided: number]
  readonly source: boolean
  readonly markers?: readonly string[]
}

/** As bytes to keep: a line of JSON, then the literal. */
export function writeStored(rewrite: StoredRewrite): Uint8Array {
  const { literal, saved, shown, isSource, markers, digest, sent } = rewrite
  const { clears, hints, format, generation, reading, arm, unit, turn } = rewrite
  // JSON leaves out what is `undefined`.
  const head = {
    v: VERSION,
    saved: [saved.referred, saved.encoded, saved.elided],
    shown,
    source: isSource,
    markers: markers.length === 0 ? undefined : markers,
    digest,
    sent,
    clears,
    hints,
    format,
    generation,
    reading,
    arm,
    unit,
    turn,
  }
  const line = Buffer.from(`${JSON.stringify(head)}\n`)
  return literal === null ? line : Buffer.concat([line, literal])
}

/**
 * Reads stored bytes. Returns `null` if another version has written them.
 * @throws AppError `internal` for bytes that no version has written
 */
export function readStored(bytes: Uint8Array): StoredRewrite | null {
  const end = bytes.indexOf(LINE_FEED)
  if (end === -1) throw new AppError('internal', 'a stored rewrite without a head')
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const {
    v,
    saved,
    source,
    markers = [],
    ...facts
  } = JSON.parse(view.toString('utf8', 0, end)) as Head
  if (v !== VERSION) return null
  const [referred, encoded, elided] = saved
  const literal = end + 1 === bytes.length ? null : bytes.subarray(end + 1)
  return { ...facts, literal, saved: { referred, encoded, elided }, isSource: source, markers }
}

/** The saving of one result. */
export interface Saving {
  /** Byte of the client's body at which the result ends. */
  readonly end: number
  /** Bytes fewer than in the client's body; may be negative although tokens are saved. */
  readonly shorter: number
  readonly saved: SavedTokens
  /** `undefined` if the body does not name it. */
  readonly tool?: string | undefined
}

/** More places than a share of cached tokens can distinguish. */
const MAX_PLACES = 64

/**
 * The places in the prompt at which tokens were saved. Providers read tools and instructions first,
 * wherever a body has them. So everything outside of the conversation counts as before it.
 * @param savings in the order of the body
 * @param added tokens that we put before the conversation: a loss at its first place; below 0 we
 *   took some away
 * @returns in the order of the prompt, at most 65: neighbours are joined at the place of the last
 */
export function savedPlaces(
  { body, messages, opening }: Pick<ScannedRequest, 'body' | 'messages' | 'opening'>,
  savings: readonly Saving[],
  added = 0,
): readonly SavedPlace[] {
  const first = messages[0]?.start ?? 0
  const last = messages.at(-1)?.end ?? 0
  const outside = body.length - (last - first)
  const total = body.length - savings.reduce((sum, { shorter }) => sum + shorter, 0)
  const each = Math.ceil(savings.length / MAX_PLACES)
  const places: SavedPlace[] = []
  if (added !== 0) {
    places.push({ at: Math.min(1, Math.max(outside, 1) / total), tokens: -added, messages: 0 })
  }
  let message = 0
  let shorter = 0
  let tokens = 0
  let tools = new Map<string, number>()
  for (const [index, saving] of savings.entries()) {
    while (message < messages.length && messages[message]!.end < saving.end) message++
    shorter += saving.shorter
    const saved = totalOf(saving.saved)
    tokens += saved
    if (saving.tool !== undefined) tools.set(saving.tool, (tools.get(saving.tool) ?? 0) + saved)
    if ((index + 1) % each !== 0 && index + 1 < savings.length) continue
    const at = Math.min(1, (outside + saving.end - first - shorter) / total)
    const own = Math.max(0, message + 1 - opening)
    places.push({ at, tokens, messages: own, ...(tools.size > 0 && { tools: [...tools] }) })
    tokens = 0
    tools = new Map()
  }
  return places
}
