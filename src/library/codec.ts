import type { EncodeAnswer } from '../core/contract/encode.ts'
import { decodeContent } from '../core/pipeline/decode.ts'
import { encodeResult } from '../core/pipeline/encode.ts'
import { type Explanation, explainContent } from '../core/pipeline/explain.ts'
import type { PipelineContext } from '../core/pipeline/read-input.ts'
import { createTokenCounters } from '../core/tokens/counters.ts'
import { resolveTokenizer } from '../core/tokens/profiles.ts'
import { loadVocabularies } from '../runtime/vocabulary.ts'

export type { EncodeAnswer, Explanation }

export interface CodecOptions {
  /** What tokens are counted by; absent: `o200k_base`. */
  readonly tokenizer?: string
  /** Names of the formats that may be written; absent: all that the service chooses among. */
  readonly formats?: readonly string[]
  /**
   * Folder for the packed vocabularies, 15 MB. Without one, each process packs them again, which
   * takes some 0.3 s.
   */
  readonly cacheDir?: string
}

/** Whose result it is; both are for what depends on the tool only. */
export interface CodecCall {
  readonly tool?: string
  readonly args?: Readonly<Record<string, unknown>>
}

export interface Codec {
  /** The smallest text that is easy to read and decodes to `content`. */
  encode(content: string, call?: CodecCall): EncodeAnswer
  /**
   * @param format as an answer of `encode` names it
   * @returns the very text that was encoded
   * @throws AppError `not_decodable`; `payload_too_large` above 256 Mi UTF-16 code units
   */
  decode(content: string, format: string): string
  /** Tokens of a text. */
  count(text: string): number
  /** How `encode` chooses: each candidate with its tokens, its price and the verdict. */
  explain(content: string, call?: CodecCall): Explanation
}

const NO_SESSION = () => null

/** Deepest nesting of JSON that is parsed, and the longest decoded text: the service's defaults. */
const LIMITS = { maxDepth: 256, maxDecodedChars: 2 ** 28 }

/**
 * Encodes and decodes in this thread: no configuration, no environment, no session, no network.
 * What a text is encoded to depends on the text, the call and the options only.
 * @throws AppError `invalid_request` for an unknown tokenizer or format
 */
export async function createCodec(options: CodecOptions = {}): Promise<Codec> {
  const { tokenizer, formats, cacheDir } = options
  const terms = {
    ...(tokenizer !== undefined && { tokenizer }),
    ...(formats !== undefined && { formats: [...formats] }),
  }
  const counters = createTokenCounters(loadVocabularies(cacheDir === undefined ? {} : { cacheDir }))
  const context: PipelineContext = { counters, ...LIMITS, keepsOriginals: false }
  const counter = counters.get(resolveTokenizer(terms))
  const requestOf = (content: string, { tool, args }: CodecCall = {}) => ({
    ...terms,
    content,
    ...(tool !== undefined && { tool }),
    ...(args !== undefined && { args: { ...args } }),
  })
  encodeResult(requestOf(''), context, NO_SESSION)
  return {
    encode: (content, call) => encodeResult(requestOf(content, call), context, NO_SESSION).answer,
    decode: (content, format) => decodeContent(content, format, LIMITS.maxDecodedChars).content,
    count: text => counter.count(text),
    explain: (content, call) => explainContent(requestOf(content, call), context),
  }
}
