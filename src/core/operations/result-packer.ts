import { attempt } from '../base/attempt.ts'
import { AppError } from '../base/errors.ts'
import type { EncodeAnswer } from '../contract/encode.ts'
import type { ByteAnswer, Done, KeepItem, Report } from '../contract/operation-result.ts'
import type { ResultPlace, ResultTerms } from '../contract/request-terms.ts'
import { capsMarkup } from '../enrich/markup-cap.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import { findLookAlikes } from '../hints/look-alikes.ts'
import {
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  parseAt,
  textOf,
} from '../json/bytes/json-node.ts'
import { literalOf, type Replacement, splice } from '../json/bytes/splice.ts'
import { COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/char-codes.ts'
import { isSpace } from '../json/text-tokens.ts'
import { encodeContent } from '../pipeline/encode-content.ts'
import type { ContentRequest } from '../pipeline/read-input.ts'
import type { Dependency } from '../sessions/turn/call-memory.ts'
import { escapedStrings } from './escape-strings.ts'
import type { OperationContext } from './operation.ts'
import { paginationOf } from './result-pagination.ts'
import { readShownValue } from './shown-value.ts'

/** The name of the operation, for the pool and for reports. */
export const PACK_RESULT = 'pack_result'

/** A shorter text cannot get smaller. */
const SHORTEST_TEXT = 32
/** Large markup keeps so much: some 4 kB. */
const MARKUP_TOKENS = 1_000

/** The terms of a result, with its place only if that still holds. */
export type PlacedTerms = Omit<ResultTerms, 'place'> & { readonly place: ResultPlace | undefined }

/** The answer if nothing changes. */
export const UNCHANGED = { bytes: null, reports: [], records: [], keep: [], markers: [] } as const

/** One result whose texts are made smaller. */
export class ResultPacker {
  readonly #bytes: JsonBytes
  readonly #terms: PlacedTerms
  readonly #context: OperationContext
  readonly #args: unknown
  readonly #edits: Replacement[] = []
  readonly #keep: KeepItem[] = []
  readonly #dependencies: Dependency[] = []
  readonly #reports: Report[] = []

  constructor(bytes: JsonBytes, terms: PlacedTerms, context: OperationContext) {
    this.#bytes = bytes
    this.#terms = terms
    this.#context = context
    this.#args = readArgs(terms.args)
  }

  /** The result of a call. */
  pack(root: JsonNode): ByteAnswer {
    const content = memberOf(root, 'content')
    const structured = memberOf(root, 'structuredContent')
    const isError = this.#isWord(memberOf(root, 'isError'), 'true')
    const isReplaced =
      this.#terms.structured === 'text' && !isError && this.#isContainer(structured)
    if (isReplaced && structured !== undefined) {
      if (!this.#replaceStructured(root, content, structured)) return UNCHANGED
      return this.#answer()
    }
    this.#packTexts(this.#textsOf(content), isError)
    // Clients may show it to their models.
    if (structured !== undefined) this.#escape(structured)
    return this.#answer()
  }

  /** Any other JSON whose strings reach the model: they are escaped, and nothing else changes. */
  escapeOnly(root: JsonNode): ByteAnswer {
    this.#escape(root)
    return this.#answer()
  }

  /** The result of `resources/read`. What clients draw for their users stays. */
  packResource(root: JsonNode): ByteAnswer {
    const texts = itemsOf(memberOf(root, 'contents')).flatMap(each => {
      const text = memberOf(each, 'text')
      const isDrawn = textOf(this.#bytes, memberOf(each, 'uri'))?.startsWith('ui://') === true
      const isText = text !== undefined && this.#bytes[text.start] === QUOTE
      return each.doubled || isDrawn || !isText ? [] : [text]
    })
    this.#packTexts(texts, false)
    return this.#answer()
  }

  #answer(): ByteAnswer {
    const found = { ...UNCHANGED, reports: this.#reports, keep: this.#keep }
    const dependencies = this.#dependencies
    const edits = this.#edits.sort((a, b) => a.start - b.start)
    const bytes = edits.length === 0 ? null : splice(this.#bytes, edits)
    return { ...found, bytes, dependencies }
  }

  /** The texts for the model that may get smaller. */
  #textsOf(content: JsonNode | undefined): readonly JsonNode[] {
    return itemsOf(content)
      .filter(block => this.#isForModel(block))
      .map(block => memberOf(block, 'text') as JsonNode)
  }

  #packTexts(nodes: readonly JsonNode[], isError: boolean): void {
    // All count for the limit of the client.
    const takesAll = this.#terms.limit !== undefined
    const texts = nodes
      .map(node => ({ node, content: this.#stringOf(node) }))
      .filter(({ content }) => takesAll || mayChange(content))
    const encoded = this.#encodeAll(
      texts.map(({ content }) => content),
      isError,
    )
    for (const [i, { node, content }] of texts.entries()) {
      this.#replaceText(node, content, encoded[i] as string)
    }
  }

  #replaceText({ start, end }: JsonNode, content: string, text: string): void {
    if (text !== content) this.#edits.push({ start, end, literal: literalOf(text) })
  }

  #escape({ start, end }: JsonNode): void {
    for (const edit of escapedStrings(this.#bytes, start, end)) this.#edits.push(edit)
  }

  /**
   * Puts one text in place of the structured value, and drops the texts that say the same or a part
   * of it once more. The other texts are encoded with it. All other blocks stay.
   */
  #replaceStructured(root: JsonNode, content: JsonNode | undefined, structured: JsonNode): boolean {
    if (content !== undefined && content.items === null) return false
    const json = this.#bytes.toString('utf8', structured.start, structured.end)
    const shown = readShownValue(json)
    if (shown === null) return false
    const blocks = itemsOf(content)
    const texts = this.#textsOf(content).map(node => ({ node, content: this.#stringOf(node) }))
    const [repeated = [], others = []] = [true, false].map(isRepeated =>
      texts.filter(each => shown.repeats(each.content) === isRepeated),
    )
    const { onlyText } = shown
    const isWrapped = repeated.some(each => each.content === onlyText)
    const main = isWrapped && onlyText !== null ? onlyText : json
    const encoded = this.#encodeAll([main, ...others.map(each => each.content)], false)
    const block = Buffer.concat([
      Buffer.from('{"type":"text","text":'),
      literalOf(encoded[0] as string),
      Buffer.from('}'),
    ])
    if (content === undefined) {
      const named = Buffer.concat([Buffer.from('"content":['), block, Buffer.from(']')])
      this.#edits.push({ start: structured.keyStart, end: structured.end, literal: named })
      return true
    }
    for (const [i, each] of others.entries()) {
      this.#replaceText(each.node, each.content, encoded[i + 1] as string)
    }
    const dropped = new Set(repeated.map(({ node }) => node.start))
    for (const edit of this.#listEdits(content, blocks, block, dropped)) this.#edits.push(edit)
    this.#edits.push({ ...memberRange(this.#bytes, root, structured), literal: NOTHING })
    return true
  }

  /** Puts a block before the others, and drops those whose texts start at these places. */
  #listEdits(
    content: JsonNode,
    blocks: readonly JsonNode[],
    block: JsonBytes,
    dropped: ReadonlySet<number>,
  ): readonly Replacement[] {
    const isDropped = (each: JsonNode) => dropped.has(memberOf(each, 'text')?.start ?? -1)
    const kept = blocks.filter(each => !isDropped(each))
    const edits: Replacement[] = []
    // From after the last thing that stays to the start of the next one.
    let from = content.start
    for (const [i, each] of kept.entries()) {
      const separator =
        i === 0 ? Buffer.concat([Buffer.from('['), block, COMMA_BYTES]) : COMMA_BYTES
      edits.push({ start: from, end: each.start, literal: separator })
      from = each.end
    }
    const end =
      kept.length === 0
        ? Buffer.concat([Buffer.from('['), block, Buffer.from(']')])
        : Buffer.from(']')
    edits.push({ start: from, end: content.end, literal: end })
    return edits
  }

  #stringOf({ start, end }: JsonNode): string {
    return parseAt(this.#bytes, { start, end }) as string
  }

  /**
   * The texts of one result. The longest one takes part in the context: a result is one call for
   * its reader, whatever its number of texts. What is above the limit of the client is trimmed to
   * it, each text in its proportion.
   */
  #encodeAll(contents: readonly string[], isError: boolean): readonly string[] {
    const { place, limit } = this.#terms
    const longest = contents.reduce((most, { length }) => Math.max(most, length), 0)
    const inContext = contents.findIndex(({ length }) => length === longest)
    const whole = contents.map((content, i) =>
      this.#encode(content, { isError, session: i === inContext ? place?.session : undefined }),
    )
    const total = whole.reduce((sum, { answer }) => sum + answer.tokens.final, 0)
    const isTrimmed = limit !== undefined && total > limit.above_tokens && !isError
    const sent = isTrimmed
      ? whole.map((each, i) =>
          this.#trim(
            contents[i] as string,
            each,
            (limit.to_tokens * each.answer.tokens.final) / total,
          ),
        )
      : whole
    for (const { keep = [], dependencies = [], reports } of sent) {
      for (const item of keep) this.#keep.push(item)
      for (const item of dependencies) this.#dependencies.push(item)
      for (const item of reports.map(report => ({ ...report, op: PACK_RESULT })))
        this.#reports.push(item)
    }
    return sent.map(({ answer }) => answer.content)
  }

  /** The text within the budget, with a marker; the whole text if that does not fit. */
  #trim(content: string, whole: Done<EncodeAnswer>, budget: number): Done<EncodeAnswer> {
    const budget_tokens = Math.floor(budget)
    if (budget_tokens < 1) return whole
    try {
      return this.#encode(content, { isError: false, budget_tokens })
    } catch (error) {
      if (error instanceof AppError && error.code === 'budget_too_small') return whole
      throw error
    }
  }

  #encode(content: string, { isError, session, budget_tokens }: EncodeTerms): Done<EncodeAnswer> {
    const { tool, response_budget: wish } = this.#terms
    const isTrimmed = budget_tokens !== undefined
    const { mode, budget_tokens: usual, ...omits } = this.#limitsOf(content)
    const budget = budget_tokens ?? usual
    const args = session === undefined ? this.#args : shortOnes(this.#args)
    const request: ContentRequest = {
      content,
      tool,
      mode: isError ? 'lossless' : isTrimmed ? 'trim' : mode,
      ...(isError ? { is_error: true } : {}),
      ...(isError || budget === undefined ? {} : { budget_tokens: budget }),
      ...(args === undefined ? {} : { args }),
      ...(session === undefined ? {} : { session }),
      ...(isError || isTrimmed ? {} : omits),
      ...(wish === undefined ? {} : { response_budget: wish }),
      ...paginationOf(content),
    }
    // A text that cannot be encoded stays, and ends no others.
    return attempt(
      'text',
      () => encodeContent(request, this.#context),
      error => {
        if (error instanceof AppError) throw error
        return encodeContent({ content, tool, formats: [PASSTHROUGH] }, this.#context)
      },
    )
  }

  /** What may leave out parts of a text: the server's mode, its tool's fields, large markup. */
  #limitsOf(content: string): Pick<ContentRequest, 'mode' | 'budget_tokens' | 'omits'> {
    const { tool, mode, budget_tokens, omitted_fields: fields = [], markup } = this.#terms
    const budget = budget_tokens === undefined ? {} : { budget_tokens }
    if (markup !== undefined && capsMarkup(tool, markup.server, content, markup.keywords)) {
      return { mode: 'elide', budget_tokens: Math.min(MARKUP_TOKENS, budget_tokens ?? Infinity) }
    }
    if (fields.length === 0 || mode === 'trim') return { mode, ...budget }
    return { mode: 'elide', ...budget, omits: { fields, bulk: mode === 'elide' } }
  }

  /** A text block that is not for the user alone. */
  #isForModel(block: JsonNode): boolean {
    if (block.doubled || textOf(this.#bytes, memberOf(block, 'type')) !== 'text') return false
    const text = memberOf(block, 'text')
    if (text === undefined || this.#bytes[text.start] !== QUOTE) return false
    const audience = memberOf(memberOf(block, 'annotations'), 'audience')
    const readers = itemsOf(audience).map(each => textOf(this.#bytes, each))
    return readers.length === 0 || readers.includes('assistant')
  }

  #isContainer(node: JsonNode | undefined): boolean {
    const first = node === undefined ? undefined : this.#bytes[node.start]
    return first === OPEN_BRACE || first === OPEN_BRACKET
  }

  #isWord(node: JsonNode | undefined, word: string): boolean {
    return node !== undefined && this.#bytes.toString('latin1', node.start, node.end) === word
  }
}

/** How one text is encoded. */
interface EncodeTerms {
  readonly isError: boolean
  readonly session?: string | undefined
  /** Set if the text is to be trimmed whatever the mode of its tool. */
  readonly budget_tokens?: number
}

/** A longer argument names no call, and may be referred to itself. */
const MAX_ARGUMENT_CHARS = 150

/**
 * The arguments that name a call. The long ones would be referred to as texts that the model has
 * written: of a call that was cancelled it may have nothing.
 */
function shortOnes(args: unknown): unknown {
  if (typeof args !== 'object' || args === null) return undefined
  const isShort = (value: unknown) => JSON.stringify(value).length <= MAX_ARGUMENT_CHARS
  return Object.fromEntries(Object.entries(args).filter(([, value]) => isShort(value)))
}

const NOTHING = new Uint8Array(0)
const COMMA_BYTES = Buffer.from(',')

/** Whether a text can get smaller, or must be escaped. */
function mayChange(content: string): boolean {
  return content.length >= SHORTEST_TEXT || findLookAlikes(content).length > 0
}

function readArgs(args: Uint8Array | undefined): unknown {
  if (args === undefined) return undefined
  try {
    return JSON.parse(Buffer.from(args.buffer, args.byteOffset, args.byteLength).toString())
  } catch {
    return undefined
  }
}

/** The bytes of a member and of the comma that belongs to it, without which the rest is JSON. */
function memberRange(bytes: JsonBytes, root: JsonNode, member: JsonNode) {
  const { keyStart, end } = member
  let after = end
  while (isSpace(bytes[after] as number)) after++
  if (bytes[after] === COMMA) return { start: keyStart, end: after + 1 }
  let before = keyStart - 1
  while (before > root.start && isSpace(bytes[before] as number)) before--
  return { start: bytes[before] === COMMA ? before : keyStart, end }
}
