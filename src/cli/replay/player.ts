import { MEDIA_TYPES } from '../../core/requests/envelope.ts'
import { equalValues } from '../../core/value/equal-values.ts'
import { parseJson } from '../../core/value/parse-json.ts'
import {
  type DecodeAnswer,
  decode,
  type EncodeAnswer,
  type EncodeRequest,
  encode,
} from '../../index.ts'
import type { RecordedResult } from './read-results.ts'

/** Something that encodes and decodes: this process, or a service. */
export interface Player {
  encode(request: EncodeRequest): Promise<EncodeAnswer>
  decode(content: string, format: string): Promise<DecodeAnswer>
}

/** The pipeline in this thread. */
export function inProcessPlayer(): Player {
  return {
    encode: async request => encode(request),
    decode: async (content, format) => decode({ content, format }),
  }
}

/** A running service at `base`. Rejects with its problem's code and detail. */
export function servicePlayer(base: string): Player {
  async function post<Answer>(path: string, request: object): Promise<Answer> {
    const response = await fetch(new URL(path, base), {
      method: 'POST',
      headers: { 'content-type': MEDIA_TYPES.json },
      body: JSON.stringify(request),
    })
    const answer = await response.json()
    if (response.ok) return answer as Answer
    const { code, detail } = answer as { code?: string; detail?: string }
    throw new Error(`${path}: ${response.status} ${code}: ${detail}`)
  }
  return {
    encode: request => post('/v1/encode', request),
    decode: (content, format) => post('/v1/decode', { content, format }),
  }
}

/** What became of one result. */
export interface Played {
  readonly tool: string
  readonly answer: EncodeAnswer
  /** Whether the answer decoded to the very input: the same value for JSON, else the same text. */
  readonly restored: boolean
}

/** The request that a recorded result stands for. */
export function requestOf(
  { tool, text, session, args, call_id, is_error }: RecordedResult,
  options: Pick<EncodeRequest, 'tokenizer' | 'model'>,
): EncodeRequest & { content: string } {
  return {
    content: text,
    tool,
    ...(session === undefined ? {} : { session }),
    ...(args === undefined ? {} : { args }),
    ...(call_id === undefined ? {} : { tool_call_id: call_id }),
    ...(is_error === undefined ? {} : { is_error }),
    ...options,
  }
}

/** Encodes one result, decodes the answer, compares. */
export async function play(
  result: RecordedResult,
  player: Player,
  options: Pick<EncodeRequest, 'tokenizer' | 'model'>,
): Promise<Played> {
  const answer = await player.encode(requestOf(result, options))
  const decoded = await player.decode(answer.content, answer.format)
  return { tool: result.tool, answer, restored: sameMeaning(result.text, decoded) }
}

/** Deep enough for every content that a service parses (`limits.content_depth` is at most 1,000). */
const DEPTH = 1_000

function sameMeaning(original: string, decoded: DecodeAnswer): boolean {
  if (decoded.media_type === 'text/plain') return decoded.content === original
  const before = parseJson(original, { maxDepth: DEPTH })
  const after = parseJson(decoded.content, { maxDepth: DEPTH })
  return before.ok && after.ok && equalValues(before.value, after.value)
}
