import { z } from 'zod'
import { STRATEGY_IDS } from '../reduce/budget/strategies.ts'
import { LEVELS } from '../reduce/trim/levels.ts'
import { VIEW_LEVELS } from '../reduce/views/level.ts'
import {
  byteCount,
  readingField,
  sessionField,
  tokenCount,
  tokenizerFields,
  tokensUsed,
} from './fields.ts'
import { responseBudget } from './response-budget.ts'

/** Longest field that a tool's provider adds beside its content, such as a cursor or a query. */
const MAX_NOTE_CHARS = 16_384

const pagination = z.strictObject({
  total: z.int().nonnegative(),
  returned: z.int().nonnegative(),
  offset: z.int().nonnegative().optional(),
  next: z.union([z.string().max(MAX_NOTE_CHARS), z.int()]).optional(),
})

const sort = z.strictObject({
  by: z.string().max(MAX_NOTE_CHARS),
  order: z.string().max(64),
  available: z.array(z.string().max(MAX_NOTE_CHARS)).max(256).optional(),
})

/** `POST /v1/encode`: one tool result to make smaller. */
export const encodeRequest = z.strictObject({
  content: z.string().optional().describe("The tool result's text"),
  input_ref: z.string().max(64).optional().describe('Instead of content: kept with /v1/inputs'),
  session: sessionField.optional(),
  tool: z.string().max(512).optional().describe('Name of the tool that was called'),
  args: z
    .unknown()
    .optional()
    .describe(
      'Arguments of the call; never logged. With a session, texts of 200 characters and more are kept like results',
    ),
  tool_call_id: z.string().max(512).optional(),
  file_path: z.string().max(4096).optional(),
  ...tokenizerFields,
  mode: z
    .enum(['lossless', 'elide', 'trim'])
    .optional()
    .describe('Default lossless; the others may leave parts out to fit budget_tokens'),
  budget_tokens: z.int().nonnegative().optional().describe('The answer is never above it'),
  response_budget: responseBudget.optional(),
  min_saved_tokens: z
    .int()
    .nonnegative()
    .optional()
    .describe('Leaving parts out without a budget saves so many tokens, or nothing is left out'),
  reading: readingField.optional(),
  context_tokens: z
    .int()
    .nonnegative()
    .optional()
    .describe("Tokens in the agent's context before this result: its level follows from them"),
  is_error: z.boolean().optional(),
  formats: z
    .array(z.string().max(64))
    .max(64)
    .optional()
    .describe(
      'Only these formats, by name; references too only where ref, changes, near or lines is named',
    ),
  strategy: z
    .enum(STRATEGY_IDS)
    .optional()
    .describe('Which parts matter most where some must go; default by the tool'),
  level: z
    .enum(LEVELS)
    .optional()
    .describe('The most that mode trim tells of each item; default full, less where it must'),
  chunk: z
    .int()
    .positive()
    .optional()
    .describe('Which chunk of a list of items mode trim returns; default 1'),
  offset: z
    .int()
    .nonnegative()
    .optional()
    .describe('Instead of chunk: items from here on, in their own order, counted from 0'),
  limit: z.int().positive().optional().describe('How many of them, at most'),
  query: z.string().max(MAX_NOTE_CHARS).optional(),
  pagination: pagination.optional(),
  sort: sort.optional(),
  is_sidechain: z.boolean().optional().describe("A sub-agent's context"),
})

/** One part of a list of items that is returned at once. */
const chunk = z.strictObject({
  chunk: z.int().positive(),
  count: z.int().nonnegative().describe('Items'),
  offset: z.int().nonnegative().optional().describe('Where the items follow one another'),
  limit: z.int().nonnegative().optional(),
  items: z
    .array(z.tuple([z.int().nonnegative(), z.int().positive()]))
    .describe('Runs of items, from 0, each with the number behind its last'),
  tokens: tokenCount.describe('Of the items in full, about'),
  summary: z.string(),
  returned: z.boolean(),
})

const layerId = z.enum(['L0', 'L1', 'L2', 'L3'])

export const encodeAnswer = z.strictObject({
  content: z.string(),
  layer: layerId,
  format: z.string().describe('Opaque; give it back to /v1/decode'),
  shape: z.string(),
  inner_formats: z.array(z.string()),
  tokens: z.strictObject({ ...tokensUsed, baseline: tokenCount, final: tokenCount }),
  lossless: z.boolean(),
  ref: z.string().optional().describe('8 hex or more; present when the body was recorded'),
  hints: z.array(z.strictObject({ family: z.string(), text: z.string() })),
  elided: z.array(
    z.strictObject({ hash: z.string(), unit: z.string(), count: z.int(), tokens: tokenCount }),
  ),
  savings: z.strictObject({
    dedup_tokens: tokenCount,
    encoder_tokens: tokenCount,
    elided_tokens: tokenCount,
    view_tokens: tokenCount.optional().describe('Of elided_tokens, if a view left parts out'),
  }),
  bytes: z.strictObject({ raw: byteCount, output: byteCount }),
  compression_ratio: z.number().nonnegative().describe('bytes.output / bytes.raw; 1 for no bytes'),
  agent_hint: z
    .string()
    .optional()
    .describe('The line of the content that says how to get what is missing'),
  truncated: z.boolean(),
  response_level: z
    .enum(VIEW_LEVELS)
    .optional()
    .describe('The level that left something out of it; absent: no level did'),
  view: z.string().optional().describe('The view that chose what to show'),
  chunks: z.array(chunk).optional().describe('When a list of items was trimmed: all of its chunks'),
  pagination: pagination.optional(),
  sort: sort.optional(),
  partition: z.int().nonnegative(),
  look_alikes: z
    .int()
    .positive()
    .optional()
    .describe('Places of the content that read like hints and are none: each is escaped'),
})

export type EncodeRequest = z.output<typeof encodeRequest>
export type EncodeAnswer = z.output<typeof encodeAnswer>
export type LayerId = z.output<typeof layerId>

/** `POST /v1/decode`: an encode answer's text, back to the value that it represents. */
export const decodeRequest = z.strictObject({
  content: z.string(),
  format: z.string().max(1_024).describe('The `format` of the encode answer'),
  session: sessionField.optional(),
})

export const decodeAnswer = z.strictObject({
  content: z.string().describe('Compact JSON where the input was JSON, else the same text'),
  media_type: z.enum(['application/json', 'text/plain']),
})

export type DecodeRequest = z.output<typeof decodeRequest>
export type DecodeAnswer = z.output<typeof decodeAnswer>
