import { CONFIGURATION_ITEM } from '../../dialects/bodies/openai-responses.ts'
import type { RetrieveRules } from '../../dialects/bodies/route.ts'
import { bodyRules } from '../../dialects/lookup.ts'
import { itemsOf, type JsonNode, memberOf, parseAt, textOf } from '../../json/bytes/json-node.ts'
import { literalOf, type Replacement } from '../../json/bytes/splice.ts'
import { QUOTE } from '../../json/char-codes.ts'
import type { ScannedRequest } from '../parse/scan-request.ts'
import type { HiddenTurns } from './hidden-turns.ts'
import { type HiddenCall, type HiddenTurn, listOf } from './retrieving-answer.ts'
import { anthropicShown, chatShown, chatText, responsesShown } from './shown-turn.ts'

/** A request with the turns that its client was not shown. */
export interface RestoredTurns {
  /** In the order of the body. */
  readonly replacements: readonly Replacement[]
  /** Turns that were put back. */
  readonly restored: number
  /** Turns whose messages the client has changed, so that nothing was put back. */
  readonly changed: number
}

type Restore = (request: ScannedRequest, turns: Pick<HiddenTurns, 'of'>, collect: Collected) => void

/** Puts back what was hidden from the turns of a conversation. */
export function restoreTurns(
  request: ScannedRequest,
  turns: Pick<HiddenTurns, 'of'>,
): RestoredTurns {
  const collected = new Collected(request)
  const { retrieving } = bodyRules(request.route)
  if (retrieving !== undefined) RESTORE[retrieving.turns](request, turns, collected)
  return collected
}

const RESTORE: Readonly<Record<RetrieveRules['turns'], Restore>> = {
  blocks: restoreMessages,
  choices: restoreChat,
  items: restoreItems,
}

/** Collects changes of a body. */
class Collected implements RestoredTurns {
  readonly #body: Buffer
  readonly #list: JsonNode | undefined
  readonly #read: readonly JsonNode[]
  readonly #inserts = new Map<number, { readonly at: 'before' | 'end'; texts: string[] }>()
  readonly #others: Replacement[] = []
  restored = 0
  changed = 0

  constructor({ body, request, read, route }: ScannedRequest) {
    this.#body = body
    this.#read = read
    this.#list = memberOf(request, bodyRules(route).list)
  }

  get replacements(): readonly Replacement[] {
    const inserted = [...this.#inserts].map(([start, { at, texts }]): Replacement => {
      const text = texts.join(',')
      const own = String.fromCharCode(this.#body[start]!)
      const literal = Buffer.from(at === 'before' ? `${text},${own}` : `,${text}${own}`)
      return { start, end: start + 1, literal }
    })
    return [...inserted, ...this.#others].sort((a, b) => a.start - b.start)
  }

  /** Puts items before a value, or at the end of its list if there is no such value. */
  insert(text: string, before: JsonNode | undefined, list: JsonNode | undefined): void {
    const start = before?.start ?? (list === undefined ? undefined : list.end - 1)
    if (start === undefined) return
    const at = before === undefined ? 'end' : 'before'
    const entry = this.#inserts.get(start) ?? { at, texts: [] }
    entry.texts.push(text)
    this.#inserts.set(start, entry)
  }

  /** Puts messages before the one at `index`. */
  insertMessages(text: string, index: number): void {
    this.insert(text, this.#read[index], this.#list)
  }

  replace(replacement: Replacement): void {
    this.#others.push(replacement)
  }
}

/** Whether the client has the turn as it was shown. */
function isAsShown(hidden: HiddenTurn, shown: string, collected: Collected): boolean {
  if (hidden.shown === shown) collected.restored++
  else collected.changed++
  return hidden.shown === shown
}

function restoreMessages(
  { body, read }: ScannedRequest,
  turns: Pick<HiddenTurns, 'of'>,
  collected: Collected,
): void {
  for (const [index, node] of read.entries()) {
    if (textOf(body, memberOf(node, 'role')) !== 'assistant' || node.doubled) continue
    const content = memberOf(node, 'content')
    const blocks = itemsOf(content)
    const shown = () => anthropicShown(blocksOf(body, content))
    const hidden = turns.of(index, firstId(body, blocks, 'tool_use', 'id') ?? shown())
    if (hidden === null || !isAsShown(hidden, shown(), collected)) continue
    const before = hidden.rounds.reduce((sum, round) => sum + round.shown, 0)
    if (hidden.rounds.length > 0) putRoundsBack(hidden, { node, blocks, index, before }, collected)
    const rest = blocks.slice(before)
    for (const { at, call } of hidden.calls) collected.insert(call, rest[at], content)
    putResultsBack(body, read[index + 1], hidden.calls, collected)
  }
}

interface SplitMessage {
  readonly node: JsonNode
  readonly blocks: readonly JsonNode[]
  readonly index: number
  /** Blocks that belong to hidden rounds. */
  readonly before: number
}

/** The client has the blocks of all rounds in one message. */
function putRoundsBack(
  { rounds }: HiddenTurn,
  { node, blocks, index, before }: SplitMessage,
  collected: Collected,
): void {
  const items = rounds.map(round => round.items).join(',')
  if (before > 0 && before >= blocks.length) {
    collected.replace({ start: node.start, end: node.end, literal: Buffer.from(items) })
    return
  }
  collected.insertMessages(items, index)
  if (before === 0) return
  const [first] = blocks
  const next = blocks[before]
  collected.replace({ start: first!.start, end: next!.start, literal: NOTHING })
}

const NOTHING = new Uint8Array(0)

/** Results stand in the order of their calls. */
function putResultsBack(
  body: Buffer,
  node: JsonNode | undefined,
  calls: readonly HiddenCall[],
  collected: Collected,
): void {
  const content = memberOf(node, 'content')
  if (content === undefined) return
  if (body[content.start] === QUOTE) {
    if (calls.length === 0) return
    const text = body.toString('utf8', content.start, content.end)
    const results = calls.map(({ result }) => result).join(',')
    const literal = Buffer.from(`[${results},{"type":"text","text":${text}}]`)
    collected.replace({ start: content.start, end: content.end, literal })
    return
  }
  const blocks = itemsOf(content)
  const others = blocks.findIndex(each => textOf(body, memberOf(each, 'type')) !== 'tool_result')
  const own = others === -1 ? blocks.length : others
  for (const { result, resultAt } of calls) {
    collected.insert(result, blocks[Math.min(resultAt, own)], content)
  }
}

function blocksOf(body: Buffer, content: JsonNode | undefined): readonly unknown[] {
  const value = content === undefined ? [] : parseAt(body, content)
  return typeof value === 'string' ? [{ type: 'text', text: value }] : listOf(value)
}

/** The id of the first block of a type. */
function firstId(
  body: Buffer,
  blocks: readonly JsonNode[],
  type: string,
  key: string,
): string | undefined {
  const first = blocks.find(each => textOf(body, memberOf(each, 'type')) === type)
  return textOf(body, memberOf(first, key))
}

function restoreChat(
  { body, read }: ScannedRequest,
  turns: Pick<HiddenTurns, 'of'>,
  collected: Collected,
): void {
  for (const [index, node] of read.entries()) {
    if (textOf(body, memberOf(node, 'role')) !== 'assistant' || node.doubled) continue
    const calls = itemsOf(memberOf(node, 'tool_calls'))
    const ids = calls.map(call => textOf(body, memberOf(call, 'id')))
    const content = memberOf(node, 'content')
    const text = () => (content === undefined ? '' : chatText(parseAt(body, content)))
    const hidden = turns.of(index, ids[0] ?? chatShown(text(), ids))
    if (hidden === null || !isAsShown(hidden, chatShown(text(), ids), collected)) continue
    const before = hidden.rounds.reduce((sum, round) => sum + round.shown, 0)
    if (hidden.rounds.length > 0) {
      collected.insertMessages(hidden.rounds.map(({ items }) => items).join(','), index)
    }
    if (before > 0 && content !== undefined) {
      const rest = text().slice(before)
      const literal = rest === '' && ids.length > 0 ? Buffer.from('null') : literalOf(rest)
      collected.replace({ start: content.start, end: content.end, literal })
    }
    const list = memberOf(node, 'tool_calls')
    for (const { at, call } of hidden.calls) collected.insert(call, calls[at], list)
    const answered = countTools(body, read, index + 1)
    for (const { result, resultAt } of hidden.calls) {
      collected.insertMessages(result, index + 1 + Math.min(resultAt, answered))
    }
  }
}

function countTools(body: Buffer, read: readonly JsonNode[], from: number): number {
  const end = read.findIndex(
    (node, index) => index >= from && textOf(body, memberOf(node, 'role')) !== 'tool',
  )
  return (end === -1 ? read.length : end) - from
}

function restoreItems(
  { body, read }: ScannedRequest,
  turns: Pick<HiddenTurns, 'of'>,
  collected: Collected,
): void {
  for (let index = 0; index < read.length; index++) {
    if (!isPutOut(body, read[index]!)) continue
    const end = endOfTurn(body, read, index)
    const items = read.slice(index, end)
    const shown = () => responsesShown(items.map(item => parseAt(body, item)))
    const anchor = firstId(body, items, 'function_call', 'call_id') ?? shown()
    const hidden = turns.of(index, anchor)
    if (hidden !== null && isAsShown(hidden, shown(), collected)) {
      const before = putItemsBack(hidden, items, index, collected)
      for (const { at, call, result } of hidden.calls) {
        collected.insertMessages(`${call},${result}`, index + before + at)
      }
    }
    index = end - 1
  }
}

/** Puts the items of hidden rounds in place of those that the client was shown of them. */
function putItemsBack(
  { rounds }: HiddenTurn,
  shown: readonly JsonNode[],
  index: number,
  collected: Collected,
): number {
  if (rounds.length === 0) return 0
  const before = rounds.reduce((sum, round) => sum + round.shown, 0)
  const items = rounds.map(round => round.items).join(',')
  if (before === 0) collected.insertMessages(items, index)
  else {
    const { start } = shown[0]!
    const { end } = shown[before - 1]!
    collected.replace({ start, end, literal: Buffer.from(items) })
  }
  return before
}

const NOT_PUT_OUT: ReadonlySet<string> = new Set(['item_reference', CONFIGURATION_ITEM])

/** Whether the model put an item out. */
function isPutOut(body: Buffer, node: JsonNode): boolean {
  const role = textOf(body, memberOf(node, 'role'))
  if (role !== undefined) return role === 'assistant'
  const type = textOf(body, memberOf(node, 'type')) ?? ''
  return !type.endsWith('_output') && !NOT_PUT_OUT.has(type)
}

/** The first item after the model's turn. */
function endOfTurn(body: Buffer, read: readonly JsonNode[], from: number): number {
  const end = read.findIndex((node, index) => index > from && !isPutOut(body, node))
  return end === -1 ? read.length : end
}
