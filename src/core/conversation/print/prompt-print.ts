import { hash } from 'node:crypto'
import type { RewriteReport } from '../../contract/operation-result.ts'
import type { PromptPrint } from '../../contract/prompt-print.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { itemsOf, type JsonNode, memberOf } from '../../json/bytes/json-node.ts'
import type { Replacement } from '../../json/bytes/splice.ts'
import { OPEN_BRACE, QUOTE } from '../../json/char-codes.ts'
import { type ByteRange, headRulesOf, type ScannedRequest } from '../parse/scan-request.ts'
import { messagePieces, piecesOf } from '../parse/shared-messages.ts'
import { kindOf } from '../prefix/longer-life.ts'
import { breakpointsIn } from '../prefix/request-head.ts'
import type { Steered } from '../prefix/steer-request.ts'
import { askedLifeMs, usualLifeMs } from '../rewrite/pauses.ts'
import type { ConversationContext } from '../rewrite/rewrite-context.ts'
import { sumOfSent } from '../rewrite/stored-rewrite.ts'
import { DAY_MS, HOUR_MS } from '../usage/life-rules.ts'

/** What is compared of a message. */
interface MessageFacts {
  /** Breakpoints do not count. A text and a list with this text alone have the same. */
  readonly digest: string
  /** The same as a number of 32 bits. */
  readonly short: number
  /** How many content blocks it has. */
  readonly blocks: number
}

/** A later turn has the node of a message only if all bytes up to its end are the same. */
const known = new WeakMap<JsonNode, MessageFacts>()

function messageFacts(scanned: ScannedRequest, index: number): MessageFacts {
  const node = scanned.read[index]!
  const before = known.get(node)
  if (before !== undefined) return before
  const digest = digestOf(canonicalPieces(scanned, index))
  const blocks = Math.max(1, itemsOf(memberOf(node, 'content')).length)
  const facts = { digest, short: shortDigest(digest), blocks }
  known.set(node, facts)
  return facts
}

const TEXT_BLOCK = Buffer.from('[{"type":"text","text":')
const END_OF_BLOCK = Buffer.from('}]')

/** Clients write a text as a list to put a breakpoint behind it. */
function canonicalPieces(scanned: ScannedRequest, index: number): readonly Uint8Array[] {
  const pieces = messagePieces(scanned, index)
  const { body, read } = scanned
  const node = read[index]!
  const content = memberOf(node, 'content')
  if (pieces.length !== 1 || content === undefined || body[content.start] !== QUOTE) return pieces
  return [
    body.subarray(node.start, content.start),
    TEXT_BLOCK,
    body.subarray(content.start, content.end),
    END_OF_BLOCK,
    body.subarray(content.end, node.end),
  ]
}

const DIGITS = 16

function digestOf(pieces: readonly Uint8Array[]): string {
  const bytes = pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces)
  return hash('sha256', bytes, 'hex').slice(0, DIGITS)
}

const SHORT_DIGITS = 8

/** The same as a number of 32 bits. */
function shortDigest(digest: string): number {
  return Number.parseInt(digest.slice(0, SHORT_DIGITS), 16)
}

/** What leaves in place of what the client sent; empty: nothing else. */
export interface SentPrompt {
  /** A sum over what is sent for the results, up to each. */
  readonly sums?: readonly number[]
  /** What our levers changed. */
  readonly steered?: Pick<Steered, 'replacements' | 'levers'>
}

/** Members that are in the cached prompt, or that a cache entry belongs to. */
const SETTINGS: ReadonlySet<string> = new Set(
  `thinking output_config output_format speed tool_choice reasoning reasoning_effort verbosity
  response_format text`.split(/\s+/),
)

/** The print of a request; none if it is only counted, or has a part of its conversation only. */
export function printOf(
  scanned: ScannedRequest,
  sent: SentPrompt,
  context: ConversationContext,
): Pick<RewriteReport, 'print'> {
  const { countsOnly, beside } = context.terms ?? {}
  const isCached = countsOnly !== true && beside === undefined
  const isWhole = scanned.continues === undefined && scanned.read.length > 0
  return isCached && isWhole ? { print: promptPrint(scanned, sent, context) } : {}
}

function promptPrint(
  scanned: ScannedRequest,
  { sums, steered }: SentPrompt,
  context: ConversationContext,
): PromptPrint {
  const { opening, read, modelTurns } = scanned
  const digest = (index: number) => messageFacts(scanned, index).digest
  const history: number[] = []
  let sum = 0
  for (let index = opening; index < read.length; index++) {
    sum = sumOfSent(sum, messageFacts(scanned, index).short)
    history.push(sum)
  }
  const { now = Date.now } = context.rewrites ?? {}
  return {
    at: now(),
    life_ms: ownLifeMs(steered) ?? lifeMsOf(scanned, context),
    kind: kindOf(scanned),
    turns: modelTurns,
    model: shortDigest(digestOf([Buffer.from(scanned.model ?? context.terms?.model ?? '')])),
    ...headDigests(scanned, steered?.replacements ?? []),
    next: read.length > opening ? digest(opening) : null,
    history,
    ...(sums === undefined ? {} : { sent: sums }),
    ...breakpointsOf(scanned, steered?.levers.includes('place') === true),
  }
}

type HeadDigests = Pick<PromptPrint, 'tools' | 'system' | 'first_message' | 'settings'>

function headDigests(scanned: ScannedRequest, changes: readonly Replacement[]): HeadDigests {
  const { body, request, route, opening, messages } = scanned
  const rules = headRulesOf(route)
  if (rules === undefined) {
    // All that is not the conversation is one thing then.
    const around = [body.subarray(0, messages[0]!.start), body.subarray(messages.at(-1)!.end)]
    return { tools: 0, system: 0, first_message: 0, settings: shortDigest(digestOf(around)) }
  }
  const member = (name: string | undefined) =>
    name === undefined ? [] : piecesOfMember(body, memberOf(request, name))
  const texts = (from: number, to: number) =>
    Array.from({ length: Math.max(0, to - from) }, (_, i) =>
      Buffer.from(messageFacts(scanned, from + i).digest),
    )
  return {
    tools: shortDigest(digestOf(member('tools'))),
    system: shortDigest(digestOf([...member(rules.system), ...texts(0, opening - 1)])),
    first_message: shortDigest(digestOf(texts(Math.max(0, opening - 1), opening))),
    settings: shortDigest(digestOf(settingsOf(scanned, changes))),
  }
}

function piecesOfMember(
  body: ScannedRequest['body'],
  node: JsonNode | undefined,
): readonly Uint8Array[] {
  return node === undefined ? [] : piecesOf({ body, breakpoints: breakpointsIn(node) }, node)
}

/** Each with its name, as it is sent. */
function settingsOf(
  { body, request }: ScannedRequest,
  changes: readonly Replacement[],
): readonly Uint8Array[] {
  const all = [...(request.members ?? []), ...(request.others ?? [])]
  return all
    .filter(({ key }) => SETTINGS.has(key))
    .sort((a, b) => Number(a.key > b.key) - Number(a.key < b.key))
    .flatMap(({ key, start, end }) => {
      const change = changes.find(each => start <= each.start && each.end <= end)
      const value =
        change === undefined
          ? [body.subarray(start, end)]
          : [body.subarray(start, change.start), change.literal, body.subarray(change.end, end)]
      return [Buffer.from(`\n${key}:`), ...value]
    })
}

/** The life that our levers ask for; `undefined`: the client's own. */
function ownLifeMs(steered: SentPrompt['steered']): number | undefined {
  if (steered?.levers.includes('life')) return HOUR_MS
  return steered?.levers.includes('retention') ? DAY_MS : undefined
}

/** The shortest life of its cache entries: what follows an entry is lost with it. */
function lifeMsOf(scanned: ScannedRequest, context: ConversationContext): number {
  const { body, request, breakpoints } = scanned
  const usual = usualLifeMs(scanned, context)
  const top = memberOf(request, 'cache_control')
  const retention = request.others?.find(({ key }) => key === 'prompt_cache_retention')
  const all: readonly ByteRange[] = [
    ...breakpointsIn(memberOf(request, 'tools')),
    ...breakpointsIn(memberOf(request, 'system')),
    ...breakpoints,
    ...(top === undefined ? [] : [top]),
  ]
  const asked = ({ start, end }: ByteRange) => askedLifeMs(body.subarray(start, end))
  if (retention !== undefined) {
    return Math.max(usual, asked({ start: retention.keyStart, end: retention.end }))
  }
  const lives = all.map(each => asked(each) || usual)
  return lives.reduce((least, life) => Math.min(least, life), lives[0] ?? usual)
}

/** Where breakpoints are in content blocks of the conversation. */
function breakpointsOf(
  scanned: ScannedRequest,
  isPlaced: boolean,
): Pick<PromptPrint, 'breakpoints'> {
  const { body, request, route, read, breakpoints } = scanned
  if (bodyRules(route).hasBlocks !== true) return {}
  const ends = new Set<number>()
  const isWithin = ({ start, end }: JsonNode) =>
    breakpoints.some(each => start <= each.start && each.end <= end)
  let blocks = 0
  for (const [index, node] of read.entries()) {
    const before = blocks
    blocks += messageFacts(scanned, index).blocks
    if (!isWithin(node)) continue
    const inside = itemsOf(memberOf(node, 'content')).flatMap((block, i) =>
      isWithin(block) ? [before + i + 1] : [],
    )
    for (const end of inside.length > 0 ? inside : [blocks]) ends.add(end)
  }
  const top = memberOf(request, 'cache_control')
  // `null` is none.
  if (isPlaced || (top !== undefined && body[top.start] === OPEN_BRACE)) ends.add(blocks)
  return { breakpoints: [...ends].sort((a, b) => a - b) }
}
