import type { ScannedRequest } from '../parse/scan-request.ts'
import { commonBytes, messagePieces } from '../parse/shared-messages.ts'
import { type ChangeKind, differencesOf } from './change-kind.ts'
import { type HeadField, type HeadPart, headParts } from './request-head.ts'

/** What changed before a conversation. It never has a value. */
export interface HeadChange {
  readonly place: HeadField
  readonly kind: ChangeKind
  /** Bytes of the place that stayed the same before the change. */
  readonly at: number
  /**
   * Whether the conversation itself had it otherwise before, or another one of the same key; or
   * whether the opening has the same text as that of another conversation of the tenant.
   */
  readonly scope: 'conversation' | 'key' | 'openings'
  /** What else changed: the first difference of each other kind in each place; absent: nothing. */
  readonly also?: readonly Pick<HeadChange, 'place' | 'kind' | 'at'>[]
}

/**
 * What stood before the conversations that a thread has seen lately, so that the next request shows
 * what really changed there.
 */
export interface HeadMemory {
  /**
   * Compares a request with the one before it in its conversation, or else with the last
   * conversation of the key, and remembers it. If nothing changed, a new conversation is compared
   * with the tenant's last ones: they could share a cache if they began with what they have in
   * common. Returns `null` if there is nothing to tell.
   */
  see(scanned: ScannedRequest, whose: { tenant: string; key: string }): HeadChange | null
}

/** Conversations that are remembered, and all their bytes. */
const MAX_HEADS = 64
const MAX_BYTES = 8 * 1024 * 1024
/** Larger heads are not compared. */
const MAX_HEAD_BYTES = 1024 * 1024
/** So much of the message after the opening tells conversations apart. */
const NEXT_BYTES = 4_096
/**
 * Two conversations with less in common are of different agents, unless what differs is of a kind.
 */
const ALIKE = 0.9
/** A head is compared in one of so many turns as it has multiples of this, to bound its time. */
const BYTES_A_TURN = 64 * 1024
/** Conversations whose openings are compared with that of a new one. */
const OPENINGS = 3
/** Changes that are told of one conversation; after that, it is known to change. */
const MAX_CHANGES = 3

interface KeptPart extends Pick<HeadPart, 'place' | 'raw'> {
  readonly text: Buffer
}

interface KeptHead {
  readonly tenant: string
  readonly key: string
  readonly route: string
  readonly parts: readonly KeptPart[]
  readonly tools: readonly string[]
  /** The beginning of the message after the opening; `null`: there was none yet. */
  readonly next: Buffer | null
  readonly bytes: number
  /** Changes that were told. */
  readonly changes: number
  /** Turns until it is compared again. */
  wait: number
}

/** What is compared of a head. */
type SeenHead = Pick<KeptHead, 'parts' | 'tools'>

export function createHeadMemory(): HeadMemory {
  /** The one used last comes first. */
  const kept: KeptHead[] = []

  function keep(head: KeptHead): void {
    kept.unshift(head)
    let bytes = 0
    const full = kept.findIndex((each, index) => {
      bytes += each.bytes
      return index >= MAX_HEADS || bytes > MAX_BYTES
    })
    if (full > 0) kept.splice(full)
  }

  return {
    see(scanned, { tenant, key }) {
      const parts = headParts(scanned)
      if (parts === null || sizeOf(parts) > MAX_HEAD_BYTES) return null
      const { route, tools } = scanned
      const next = nextOf(scanned)
      const isOwn = (each: KeptHead) => each.tenant === tenant && each.route === route
      const place = kept.findIndex(each => isOwn(each) && isSame(each, parts, next))
      const before = place === -1 ? undefined : kept.splice(place, 1)[0]
      // Mostly nothing has changed, and nothing is copied.
      if (before?.next != null && (before.wait-- > 0 || hasSameBytes(before, parts))) {
        if (before.wait < 0) before.wait = turnsFor(before)
        kept.unshift(before)
        return null
      }
      const own = next && Buffer.from(next)
      const head = { tenant, key, route, tools: [...tools], next: own, ...copied(parts) }
      const ofItself = before === undefined ? null : ofConversation(before, head)
      const changes = (before?.changes ?? 0) + (ofItself === null ? 0 : 1)
      keep({ ...head, changes, wait: turnsFor({ ...head, changes }) })
      if (before !== undefined) return ofItself
      const others = kept.filter((each, index) => index > 0 && isOwn(each))
      const earlier = others.find(each => each.key === key)
      return (earlier && ofKey(earlier, head)) ?? ofOpenings(others, head)
    },
  }
}

function turnsFor({ bytes, changes }: Pick<KeptHead, 'bytes' | 'changes'>): number {
  return changes < MAX_CHANGES ? Math.floor(bytes / BYTES_A_TURN) : Number.POSITIVE_INFINITY
}

function ofConversation(earlier: SeenHead, later: SeenHead): HeadChange | null {
  const change = changeOf(earlier, later, earlier.parts, later.parts)
  return change && { ...change, scope: 'conversation' }
}

/** Only what stands before the first message: that one is another in each conversation. */
function ofKey(earlier: SeenHead, later: SeenHead): HeadChange | null {
  const shared = ({ parts }: SeenHead) => parts.filter(({ place }) => place !== 'first_message')
  const [before, now] = [shared(earlier), shared(later)]
  const change = changeOf(earlier, later, before, now)
  if (change === null || (change.kind === 'other' && !areAlike(before, now))) return null
  return { ...change, scope: 'key' }
}

/** A long text that another conversation has too, behind another beginning. */
function ofOpenings(others: readonly SeenHead[], later: SeenHead): HeadChange | null {
  const now = textOf(later)
  for (const other of others.slice(0, OPENINGS)) {
    const at = equalText(textOf(other), now)
    if (at !== null) return { ...placeOf(later, at), kind: 'equal_text', scope: 'openings' }
  }
  return null
}

function textOf({ parts }: SeenHead): Buffer {
  return Buffer.concat(parts.map(({ text }) => text))
}

/** The part that a byte of all of them is in. */
function placeOf({ parts }: SeenHead, at: number): Pick<HeadChange, 'place' | 'at'> {
  let before = 0
  for (const { place, text } of parts) {
    if (at < before + text.length) return { place, at: at - before }
    before += text.length
  }
  return { place: 'first_message', at: 0 }
}

/** The first difference, with those of other kinds and places. */
function changeOf(
  { tools: before }: SeenHead,
  { tools: now }: SeenHead,
  earlier: readonly KeptPart[],
  later: readonly KeptPart[],
): Omit<HeadChange, 'scope'> | null {
  const changes: Omit<HeadChange, 'scope' | 'also'>[] = []
  const isOrder = isReordered(before, now)
  const length = Math.max(earlier.length, later.length)
  for (let index = 0; index < length; index++) {
    const [other, part] = [earlier[index], later[index]]
    if (other?.place !== part?.place) {
      const { place } = (part ?? other) as KeptPart
      changes.push({ place, kind: 'other', at: 0 })
      break
    }
    const { place, text } = part as KeptPart
    if (other!.text.equals(text)) continue
    const found = differencesOf(other!.text, text)
    // In another order, all that follows differs.
    const kinds =
      isOrder && place === 'tools' ? [{ ...found[0]!, kind: 'tool_order' as const }] : found
    for (const difference of kinds) changes.push({ place, ...difference })
  }
  const [first, ...also] = changes
  return first === undefined ? null : { ...first, ...(also.length > 0 && { also }) }
}

function isReordered(before: readonly string[], now: readonly string[]): boolean {
  if (before.length !== now.length || before.every((name, i) => name === now[i])) return false
  const sorted = [...now].sort()
  return [...before].sort().every((name, i) => name === sorted[i])
}

/** Whether most of their bytes are the same, from both ends. */
function areAlike(earlier: readonly KeptPart[], later: readonly KeptPart[]): boolean {
  const [a, b] = [earlier, later].map(parts => Buffer.concat(parts.map(({ text }) => text)))
  const most = Math.min(a!.length, b!.length)
  let start = 0
  while (start < most && a![start] === b![start]) start++
  let end = 0
  while (end < most - start && a![a!.length - 1 - end] === b![b!.length - 1 - end]) end++
  return start + end >= ALIKE * Math.max(a!.length, b!.length)
}

/**
 * Whether a head is of the conversation: the message after the opening is the model's, and so it is
 * in no other. A conversation that had none yet has the same opening.
 */
function isSame(
  { next: known, parts: before }: KeptHead,
  parts: readonly HeadPart[],
  next: Buffer | null,
): boolean {
  if (known !== null && next !== null) return known.length === next.length && known.equals(next)
  const [first, other] = [parts.at(-1), before.at(-1)]
  if (first?.place !== 'first_message' || other?.place !== 'first_message') return false
  return other.raw.equals(first.raw) || other.text.equals(first.text())
}

function hasSameBytes({ parts: before }: KeptHead, parts: readonly HeadPart[]): boolean {
  return before.length === parts.length && parts.every((part, i) => before[i]!.raw.equals(part.raw))
}

function nextOf(scanned: ScannedRequest): Buffer | null {
  const { messages, opening } = scanned
  if (messages.length <= opening) return null
  const pieces = messagePieces(scanned, opening)
  const bytes = pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)
  return bytes.length > NEXT_BYTES ? bytes.subarray(0, NEXT_BYTES) : bytes
}

function copied(parts: readonly HeadPart[]): Pick<KeptHead, 'parts' | 'bytes'> {
  const own = parts.map(({ place, raw, text }) => {
    const whole = Buffer.from(raw)
    const bare = text()
    return { place, raw: whole, text: bare.length === raw.length ? whole : Buffer.from(bare) }
  })
  return { parts: own, bytes: own.reduce((sum, { raw }) => sum + raw.length, NEXT_BYTES) }
}

function sizeOf(parts: readonly HeadPart[]): number {
  return parts.reduce((sum, { raw }) => sum + raw.length, 0)
}

/**
 * About 1,024 tokens: a shorter prefix is not cached
 * (docs.claude.com/en/docs/build-with-claude/prompt-caching).
 */
const LEAST_BYTES = 4_096
/** Bytes that are searched for, and places that they are taken from. */
const PROBE_BYTES = 256
const PROBES = 4

/**
 * Where a text begins in a prompt that another prompt has behind another beginning. Returns `null`
 * if none is found. A text is found if it has a fifth of what is behind the common beginning.
 */
function equalText(earlier: Buffer, later: Buffer): number | null {
  const shared = commonBytes(earlier, later)
  const rest = later.length - shared
  if (rest < LEAST_BYTES || earlier.length - shared < LEAST_BYTES) return null
  for (let probe = 1; probe <= PROBES; probe++) {
    const at = shared + Math.floor((rest * probe) / (PROBES + 1))
    const other = earlier.indexOf(later.subarray(at, at + PROBE_BYTES), shared)
    if (other === -1) continue
    const start = at - equalBefore(earlier, later, { other, at, shared })
    const end = at + commonBytes(earlier.subarray(other), later.subarray(at))
    if (end - start >= LEAST_BYTES) return start
  }
  return null
}

interface Places {
  readonly other: number
  readonly at: number
  readonly shared: number
}

function equalBefore(earlier: Buffer, later: Buffer, { other, at, shared }: Places): number {
  const most = Math.min(other, at) - shared
  let count = 0
  while (count < most && earlier[other - 1 - count] === later[at - 1 - count]) count++
  return count
}
