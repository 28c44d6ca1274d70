import { hash } from 'node:crypto'
import {
  type ScannedRequest,
  scanRequest,
} from '../../../src/core/conversation/parse/scan-request.ts'
import type { RouteName } from '../../../src/core/dialects/lookup.ts'

/** A message of a turn. */
export interface FollowedMessage {
  readonly bytes: Buffer
  /** A digest of what it says, cache breakpoints and ways to write a text apart. */
  readonly meaning: string
  readonly tokens: number
}

/** A turn, held against the one before. */
export interface FollowedTurn {
  readonly scanned: ScannedRequest
  readonly messages: readonly FollowedMessage[]
  /**
   * The first message of the turn before that does not say the same any more, or is gone; `null`:
   * all do.
   */
  readonly changedAt: number | null
}

const LIMITS = { maxBytes: 1 << 26, maxDepth: 512, maxValues: 1_000_000 }

/**
 * Follows one conversation over its turns. Messages are compared as bytes, and where these differ
 * by what they say: a provider caches the prompt, for which a text is the same as a list of one
 * part, and a breakpoint is none of it.
 * @param count tokens of a text
 */
export function createFollower(route: RouteName, count: (text: string) => number) {
  let before: readonly FollowedMessage[] = []

  /**
   * Reads the turn that follows the last one.
   * @throws Error for bytes that are no request
   */
  function advance(body: Uint8Array): FollowedTurn {
    const scanned = scanRequest(body, route, LIMITS)
    if (scanned === null) throw new Error(`no request to ${route} of ${body.length} bytes`)
    let changedAt: number | null = null
    const messages = scanned.messages.map(({ start, end }, index) => {
      const bytes = scanned.body.subarray(start, end)
      const earlier = before[index]
      if (earlier?.bytes.equals(bytes)) return { ...earlier, bytes }
      const said = plain(JSON.parse(bytes.toString()))
      const meaning = hash('sha256', JSON.stringify(said), 'hex')
      if (earlier?.meaning === meaning) return { ...earlier, bytes }
      if (earlier !== undefined) changedAt ??= index
      return { bytes, meaning, tokens: tokensIn(said, count) }
    })
    if (messages.length < before.length) changedAt ??= messages.length
    before = messages
    return { scanned, messages, changedAt }
  }

  return { advance }
}

const BREAKPOINTS: ReadonlySet<string> = new Set(['cache_control', 'prompt_cache_breakpoint'])
const CONTENTS: ReadonlySet<string> = new Set(['content', 'output'])

/**
 * The value in one way of writing: without breakpoints, each text of a content in a list of parts.
 */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter(each => !isCachePoint(each)).map(plain)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value)
    .filter(([key]) => !BREAKPOINTS.has(key))
    .map(([key, member]) => {
      // What a tool was called with is nobody's content.
      if (key === 'input') return [key, member]
      if (CONTENTS.has(key) && typeof member === 'string') return [key, [{ text: member }]]
      return [key, plain(member)]
    })
  const { text } = Object.fromEntries(members)
  return typeof text === 'string' ? { text } : Object.fromEntries(members)
}

/** A block of Bedrock's that is nothing else. */
function isCachePoint(block: unknown): boolean {
  return typeof block === 'object' && block !== null && 'cachePoint' in block
}

const NAMES: ReadonlySet<string> = new Set(['name', 'arguments'])

/** Tokens of what a model reads of a message: its texts, names of calls and their arguments. */
function tokensIn(said: unknown, count: (text: string) => number): number {
  if (typeof said !== 'object' || said === null) return 0
  let tokens = 0
  for (const [key, member] of Object.entries(said)) {
    if (key === 'input') tokens += count(JSON.stringify(member))
    else if (typeof member !== 'string') tokens += tokensIn(member, count)
    else if (key === 'text' || NAMES.has(key)) tokens += count(member)
  }
  return tokens
}
