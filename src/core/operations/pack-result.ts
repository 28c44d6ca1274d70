import { attempt } from '../base/attempt.ts'
import { AppError } from '../base/errors.ts'
import type { EncodeAnswer } from '../contract/encode.ts'
import type { ByteAnswer, Done, KeepItem, Report } from '../contract/operation-result.ts'
import type { ResultPlace, ResultTerms } from '../contract/request-terms.ts'
import { capsMarkup } from '../enrich/markup-cap.ts'
import { PASSTHROUGH } from '../formats/passthrough.ts'
import {
  items,
  itemsOf,
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  parseAt,
  RANGE,
  textOf,
} from '../json/bytes/json-node.ts'
import { readJson } from '../json/bytes/read-json.ts'
import { literalOf, type Replacement, splice } from '../json/bytes/splice.ts'
import { COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../json/char-codes.ts'
import { isSpace } from '../json/text-tokens.ts'
import { encodeContent } from '../pipeline/encode.ts'
import type { ContentRequest } from '../pipeline/read-input.ts'
import { sessionKey } from '../sessions/index/session-index.ts'
import type { Dependency } from '../sessions/turn/call-memory.ts'
import type { ByteOperation, OperationContext } from './operation.ts'
import { paginationOf } from './result-pagination.ts'

/** The name of the operation, for the pool and for reports. */
export const PACK_RESULT = 'pack_result'

const BLOCK = members({
  type: RANGE,
  text: RANGE,
  annotations: members({ audience: items(RANGE) }),
})
const CONTENTS = items(members({ uri: RANGE, text: RANGE }))
const RESULT = members({
  content: items(BLOCK),
  structuredContent: RANGE,
  isError: RANGE,
  contents: CONTENTS,
})

/** Selected values of one result: some tens of thousands of blocks. */
const MAX_VALUES = 200_000

/** A shorter text cannot get smaller. */
const SHORTEST_TEXT = 32
/** Of large markup so much is left: some 4 kB. */
const MARKUP_TOKENS = 1_000

/** The result of an MCP tool call, a JSON object, with smaller texts if possible. */
export const packResultOperation: ByteOperation = {
  kind: 'bytes',
  name: PACK_RESULT,
  run(body, context) {
    const terms = context.terms?.result
    if (terms === undefined) throw new Error('a result needs terms')
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    const limits = { maxBytes: bytes.length, maxDepth: context.maxDepth, maxValues: MAX_VALUES }
    if (context.isPaused) return UNCHANGED
    const root = readJson(bytes, RESULT, limits)
    // If a member is there twice, parsers may read either one.
    if (root === null || root.members === null || root.doubled) return UNCHANGED
    const place = presentPlace(context, terms)
    const packer = new ResultPacker(bytes, { ...terms, place }, withPlace(context, place))
    return terms.of === 'resource' ? packer.packResource(root) : packer.pack(root)
  },
}

/** `undefined` if the result stands alone, or if its context has ended since its call came. */
function presentPlace(
  { sessions }: OperationContext,
  { place }: ResultTerms,
): ResultPlace | undefined {
  if (sessions === undefined || place === undefined) return undefined
  const present = sessions.index.present(sessionKey(sessions.tenant, place.session))
  return present?.epoch === place.epoch ? place : undefined
}

/** The context with the result's place in its session; without sessions if it has none. */
function withPlace(context: OperationContext, place: ResultPlace | undefined): OperationContext {
  const { sessions, ...rest } = context
  if (sessions === undefined || place === undefined) return rest
  const { sequence, epoch } = place
  return { ...rest, sessions: { ...sessions, counted: { sequence, epoch } } }
}

/** The terms of a result, with its place only if that still holds. */
type PlacedTerms = Omit<ResultTerms, 'place'> & { readonly place: ResultPlace | undefined }

const UNCHANGED = { bytes: null, reports: [], records: [], keep: [], markers: [] } as const

class ResultPacker {
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
    if (!isReplaced || structured === undefined) {
      this.#packTexts(this.#textsOf(content), isError)
    } else if (!this.#replaceStructured(root, content, structured)) return UNCHANGED
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
    const bytes = this.#edits.length === 0 ? null : splice(this.#bytes, this.#edits)
    return { ...found, bytes, dependencies }
  }

  /** The texts for the model that may get smaller. */
  #textsOf(content: JsonNode | undefined): readonly JsonNode[] {
    return itemsOf(content)
      .filter(block => this.#isForModel(block))
      .map(block => memberOf(block, 'text') as JsonNode)
  }

  #packTexts(nodes: readonly JsonNode[], isError: boolean): void {
    const texts = nodes
      .map(({ start, end }) => ({ start, end, content: parseAt(this.#bytes, { start, end }) }))
      .filter(({ content }) => (content as string).length >= SHORTEST_TEXT)
    const encoded = this.#encodeAll(
      texts.map(({ content }) => content as string),
      isError,
    )
    for (const [i, { start, end, content }] of texts.entries()) {
      const text = encoded[i] as string
      if (text !== content) this.#edits.push({ start, end, literal: literalOf(text) })
    }
  }

  /**
   * Puts one text in place of the structured value and of the texts that are the same once more.
   * All other blocks stay.
   */
  #replaceStructured(root: JsonNode, content: JsonNode | undefined, structured: JsonNode): boolean {
    const json = this.#bytes.toString('utf8', structured.start, structured.end)
    const block = Buffer.concat([
      Buffer.from('{"type":"text","text":'),
      literalOf(this.#encodeAll([json], false)[0] as string),
      Buffer.from('}'),
    ])
    if (content === undefined) {
      const named = Buffer.concat([Buffer.from('"content":['), block, Buffer.from(']')])
      this.#edits.push({ start: structured.keyStart, end: structured.end, literal: named })
      return true
    }
    if (content.items === null) return false
    const canonical = JSON.stringify(JSON.parse(json))
    const kept = content.items.filter(each => !this.#represents(each, canonical))
    const blocks = [block, ...kept.map(({ start, end }) => this.#bytes.subarray(start, end))]
    const list = Buffer.concat([
      Buffer.from('['),
      ...blocks.flatMap((each, i) => (i === 0 ? [each] : [Buffer.from(','), each])),
      Buffer.from(']'),
    ])
    this.#edits.push({ start: content.start, end: content.end, literal: list })
    this.#edits.push({ ...memberRange(this.#bytes, root, structured), literal: NOTHING })
    this.#edits.sort((a, b) => a.start - b.start)
    return true
  }

  /** Whether a block is a text for the model with this JSON, and nothing else. */
  #represents(block: JsonNode, canonical: string): boolean {
    if (!this.#isForModel(block)) return false
    const text = parseAt(this.#bytes, memberOf(block, 'text') as JsonNode) as string
    try {
      return JSON.stringify(JSON.parse(text)) === canonical
    } catch {
      return false
    }
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
