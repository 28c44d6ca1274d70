import { z } from 'zod'
import { AppError } from '../../core/base/errors.ts'
import { toText } from '../../core/base/text-bytes.ts'
import { HASH_DIGITS } from '../../core/contract/fields.ts'
import {
  RETRIEVE_DESCRIPTION,
  RETRIEVE_SCHEMA,
  RETRIEVE_TOOL,
} from '../../core/contract/retrieve-tool.ts'
import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { LINE_FEED } from '../../core/json/char-codes.ts'
import { countLines } from '../../core/parts/lines.ts'
import type { NotShown } from '../../core/parts/not-shown.ts'
import { nextNumber } from '../../core/parts/numbered-lines.ts'
import { parsePart } from '../../core/parts/parse-part.ts'
import type { Part, PartSelector } from '../../core/parts/part.ts'
import { searchWords } from '../../core/parts/search-words.ts'
import { wholeCharacters } from '../../core/parts/whole-characters.ts'
import type { Originals, ReadableOriginals } from '../../store/originals.ts'
import type { StoredBody, StoredPart } from '../../store/store.ts'
import { jsonBytes, type Outcome } from '../json-rpc.ts'
import { fetchNotShown, searchHidden } from './fetch-hidden.ts'

const DEFINITION = {
  name: RETRIEVE_TOOL,
  description: RETRIEVE_DESCRIPTION,
  inputSchema: RETRIEVE_SCHEMA,
  annotations: { readOnlyHint: true },
  // Claude Code would hide it until the model searches for it.
  _meta: { 'anthropic/alwaysLoad': true },
}

export const RETRIEVE_DEFINITION: JsonBytes = jsonBytes(DEFINITION)

/** The definition, whose description ends with what the model is told of packed results. */
export function retrieveDefinition(legend: string | undefined): JsonBytes {
  if (legend === undefined) return RETRIEVE_DEFINITION
  return jsonBytes({ ...DEFINITION, description: `${DEFINITION.description} ${legend}` })
}

const MAX_CHARS = 2048
const text = z.string().max(MAX_CHARS)
/** Models give numbers and booleans as texts too. */
const loose = z.union([z.string().max(16), z.int(), z.boolean()]).transform(String)

const MOST_ARGUMENT_BYTES = 64 * 1024

const retrieveArgs = z.strictObject({
  hash: z.string().max(64).optional(),
  all: loose.optional(),
  query: text.optional(),
  lines: text.optional(),
  bytes: text.optional(),
  grep: text.optional(),
  path: text.optional(),
  context: loose.optional(),
  ignore_case: loose.optional(),
})

const ELSEWHERE =
  `. Make the call again that it was the result of; ` +
  `if there is another tool ${RETRIEVE_TOOL}, that may have it`

/** Who asks. */
export interface Retriever {
  readonly tenant: string
  /** The context that asks, in which references mean something; `null` if it is not known. */
  readonly reader: {
    readonly session: string
    /** It has lost a text that it was referred to. */
    lost(): void
  } | null
  /** What the conversation has markers of, the newest first; absent: that is not known. */
  hidden?(): Iterable<NotShown>
}

/** What a call of the tool may take of an original. */
export interface RetrieveLimits {
  /** What is longer is given from its first line on, with how to ask for the next ones. */
  readonly maxBytes: number
}

/**
 * Answers a call of `haversack_retrieve`. Anything that the model can mend comes back as a result
 * with `isError`, so that the model reads it.
 * @param args a JSON object
 */
export async function callRetrieve(
  args: JsonBytes,
  { tenant, reader, hidden }: Retriever,
  originals: ReadableOriginals,
  { maxBytes }: RetrieveLimits,
): Promise<Outcome> {
  if (args.length > MOST_ARGUMENT_BYTES) return failed('arguments: they are too large')
  const parsed = retrieveArgs.safeParse(JSON.parse(args.toString()))
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return failed(`${issue?.path.join('.') || 'arguments'}: ${issue?.message}`)
  }
  const { hash, all, query: words, ...query } = parsed.data
  if (hash === undefined) {
    if (words === undefined || hidden === undefined) return failed('hash: name the original')
    return shown([await searchHidden(words, hidden(), tenant, originals)])
  }
  try {
    const selector = parsePart(query as Parameters<typeof parsePart>[0])
    const ref = hash.toLowerCase()
    const session = ref.length < HASH_DIGITS ? reader?.session : undefined
    const reference = { tenant, ref, ...(session === undefined ? {} : { session }) }
    const given = (...texts: readonly string[]) => {
      originals.noteFetch(tenant, ref, Buffer.byteLength(texts.join('')))
      return shown(texts)
    }
    if (session !== undefined) reader?.lost()
    if (words !== undefined) {
      const { body, media_type } = await originals.fetch(reference, () => {})
      return given(searchWords([{ name: hash, text: toText({ bytes: body, media_type }) }], words))
    }
    if (selector === undefined) {
      const marked = all === 'true' ? undefined : find(hidden?.() ?? [], each => each.hash === ref)
      const missing = marked && (await fetchNotShown(marked, tenant, originals))
      if (missing) return given(...missing)
      const whole = await wholeWithin(originals, reference, maxBytes)
      if (whole !== null) return given(whole)
    }
    const found = await originals.fetchPart(reference, selector ?? ALL_LINES)
    const { part } = found
    const isLong = isLongList(part) || part.content.length > maxBytes
    if (!isLong) return given(partOf(found))
    const first = part.kind === 'lines' ? firstLines(part, maxBytes) : null
    if (first !== null) return given(`${textOf({ ...found, body: first.lines })}${first.next}`)
    const { length } = part.content
    return failed(`this has ${length} bytes: ask for a part of it with lines, grep, path or bytes`)
  } catch (error) {
    if (error instanceof AppError) {
      // If there are two gateways, each has such a tool, and knows only its own originals.
      const other = error.code === 'not_found' ? ELSEWHERE : ''
      return failed(`${hash}: ${error.detail}${other}`)
    }
    throw error
  }
}

const ALL_LINES: PartSelector = { kind: 'lines', range: { first: 1, last: null } }
/** Lines of one answer at most. */
const MAX_LINES = 2_000

function isLongList(part: Part): boolean {
  return part.kind === 'lines' && countLines(part.content) > MAX_LINES
}

/** All of a text; `null` if it is too long for one answer. */
async function wholeWithin(
  originals: Pick<Originals, 'fetch'>,
  reference: Parameters<Originals['fetch']>[0],
  maxBytes: number,
): Promise<string | null> {
  try {
    const whole = await originals.fetch(reference, bytes => {
      if (bytes > maxBytes) throw new TooLong()
    })
    return countLines(whole.body) > MAX_LINES ? null : textOf(whole)
  } catch (error) {
    if (error instanceof TooLong) return null
    throw error
  }
}

class TooLong extends Error {}

/**
 * The first lines of a part that is too long, and how to ask for the next ones; `null` if not even
 * one line is short enough.
 */
function firstLines(
  part: Extract<Part, { kind: 'lines' | 'bytes' }>,
  maxBytes: number,
): { readonly lines: Uint8Array; readonly next: string } | null {
  const { content, first, last, total, numbers } = part
  let end = 0
  for (let count = 0; count < MAX_LINES; count++) {
    const feed = content.indexOf(LINE_FEED, end)
    if (feed === -1 || feed >= maxBytes) break
    end = feed + 1
  }
  const lines = content.subarray(0, end)
  // Lines that have no printed number belong to the one before.
  const after = numbers === undefined ? undefined : nextNumber(content, end)
  if (end === 0 || after === null) return null
  const next = after ?? first + countLines(lines)
  return { lines, next: `(of ${total} lines; the next are lines ${next}-${last})` }
}

function textOf({ body, media_type }: Pick<StoredBody, 'body' | 'media_type'>): string {
  return toText({ bytes: body, media_type })
}

function partOf({ part, media_type }: StoredPart): string {
  const content = part.kind === 'bytes' ? wholeBytes(part) : part.content
  const shownText = toText({ bytes: content, media_type })
  switch (part.kind) {
    case 'grep':
      return part.matches === 0
        ? 'no line has this text'
        : part.shown < part.matches
          ? `${shownText}\n(${part.shown} of ${part.matches} matching lines)`
          : shownText
    case 'path':
      return part.values === 0 ? 'the path leads to no value' : shownText
    default:
      return shownText
  }
}

/** Without the halves of characters at its ends. */
function wholeBytes(part: Part): Uint8Array {
  const { start, end } = wholeCharacters(part.content)
  return part.content.subarray(start, end)
}

function find<T>(all: Iterable<T>, isIt: (each: T) => boolean): T | undefined {
  for (const each of all) if (isIt(each)) return each
  return undefined
}

function shown(texts: readonly string[]): Outcome {
  const content = texts.map(text => ({ type: 'text', text }))
  return { kind: 'result', result: jsonBytes({ content }) }
}

function failed(message: string): Outcome {
  const content = [{ type: 'text', text: message }]
  return { kind: 'result', result: jsonBytes({ content, isError: true }) }
}
