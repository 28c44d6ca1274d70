import type { RouteName } from '../parse/scan-request.ts'
import type { FigurePlaces } from './figure-reader.ts'
import type { TokenUsage } from './token-usage.ts'

/** The endpoints whose answers report their usage, by the shape of their requests. */
export type UsageRoute = RouteName

/** Figures of an answer by name, as they are spelled. */
export type Figures = Record<string, string>

const ANTHROPIC_USAGE: FigurePlaces = {
  input_tokens: 'input',
  output_tokens: 'output',
  cache_read_input_tokens: 'cache_read',
  cache_creation_input_tokens: 'cache_write',
  cache_creation: {
    ephemeral_5m_input_tokens: 'cache_write_short',
    ephemeral_1h_input_tokens: 'cache_write_long',
  },
}

/** Input figures that both APIs of OpenAI report. */
const OPENAI_INPUT: FigurePlaces = {
  cached_tokens: 'cache_read',
  cache_write_tokens: 'cache_write',
  cache_write_tokens_details: { ttl_12h_tokens: 'cache_write_long' },
}

const RESPONSE: FigurePlaces = {
  model: 'model',
  usage: {
    input_tokens: 'input',
    output_tokens: 'output',
    input_tokens_details: OPENAI_INPUT,
  },
}

const MESSAGE: FigurePlaces = { model: 'model', usage: ANTHROPIC_USAGE }

/**
 * The places of the figures, in JSON answers and in the data of events alike: `message_start` has
 * the message inside, `message_delta` has newer figures at its top; the events of a response have
 * the response inside.
 */
export const ANSWER_PLACES: Readonly<Record<UsageRoute, FigurePlaces>> = {
  // https://docs.anthropic.com/en/api/messages
  anthropic_messages: { ...MESSAGE, message: MESSAGE },
  // https://platform.openai.com/docs/api-reference/chat
  openai_chat: {
    model: 'model',
    usage: {
      prompt_tokens: 'input',
      completion_tokens: 'output',
      prompt_tokens_details: OPENAI_INPUT,
    },
  },
  // https://platform.openai.com/docs/api-reference/responses
  openai_responses: { ...RESPONSE, response: RESPONSE },
  // https://ai.google.dev/api/generate-content#UsageMetadata
  gemini_generate: {
    modelVersion: 'model',
    usageMetadata: {
      promptTokenCount: 'input',
      cachedContentTokenCount: 'cache_read',
      toolUsePromptTokenCount: 'tool_input',
      candidatesTokenCount: 'output',
      thoughtsTokenCount: 'thoughts',
    },
  },
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
  bedrock_converse: {
    usage: {
      inputTokens: 'input',
      outputTokens: 'output',
      cacheReadInputTokens: 'cache_read',
      cacheWriteInputTokens: 'cache_write',
    },
  },
}

/** Routes whose input figure has no token that was read from the cache or written to it. */
const INPUT_IS_UNCACHED: ReadonlySet<UsageRoute> = new Set([
  'anthropic_messages',
  'bedrock_converse',
])

/** Larger figures cannot be right. */
const MAX_TOKENS = 1e9

/** The usage by the figures. Returns `null` if the tokens of the prompt are not among them. */
export function usageOf(route: UsageRoute, figures: Figures): TokenUsage | null {
  const input = tokens(figures['input'])
  if (input === undefined) return null
  const output = (tokens(figures['output']) ?? 0) + (tokens(figures['thoughts']) ?? 0)
  const read = tokens(figures['cache_read']) ?? 0
  const long = tokens(figures['cache_write_long']) ?? 0
  const written =
    tokens(figures['cache_write']) ?? (tokens(figures['cache_write_short']) ?? 0) + long
  if (INPUT_IS_UNCACHED.has(route)) {
    return { uncached: input, cache_read: read, ...writes(written, long), output }
  }
  // OpenAI's and Gemini's prompt tokens include those that were read from the cache, and written to
  // it.
  const cacheRead = Math.min(read, input)
  const cacheWrite = Math.min(written, input - cacheRead)
  const uncached = input - cacheRead - cacheWrite + (tokens(figures['tool_input']) ?? 0)
  return { uncached, cache_read: cacheRead, ...writes(cacheWrite, long), output }
}

function writes(all: number, long: number): Pick<TokenUsage, 'cache_write' | 'cache_write_long'> {
  const cache_write_long = Math.min(long, all)
  return { cache_write: all - cache_write_long, cache_write_long }
}

function tokens(text: string | undefined): number | undefined {
  if (text === undefined || !/^\d{1,10}$/.test(text)) return undefined
  const value = Number(text)
  return value <= MAX_TOKENS ? value : undefined
}
