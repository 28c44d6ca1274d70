import { describe, expect, it } from 'vitest'
import { letsForget } from '../../../../../src/core/dialects/forgetting/lets-forget.ts'
import {
  headersLetForget,
  upstreamForgets,
} from '../../../../../src/core/dialects/forgetting/vendor-forgetting.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { scanned, toolResult, userBlocks } from './scanned.ts'

const CLEAR_THINKING = { type: 'clear_thinking_20251015', keep: 'all' }
const CLEAR_TOOL_USES = { type: 'clear_tool_uses_20250919' }

const thinkingAnd = (fields: object) => ({
  context_management: { edits: [CLEAR_THINKING], ...fields },
})

const request = (fields: object, ...blocks: readonly object[]) => ({
  ...userBlocks(toolResult('a'), ...blocks),
  ...fields,
})

describe('a provider may forget results', () => {
  it.each<[string, object]>([
    ['no edits', { context_management: {} }],
    ['an empty list of edits', { context_management: { edits: [] } }],
    ['edits that clear results', { context_management: { edits: [CLEAR_TOOL_USES] } }],
    ['such edits too', { context_management: { edits: [CLEAR_THINKING, CLEAR_TOOL_USES] } }],
    ['edits of an unknown type', { context_management: { edits: [{ type: 'clear_thinking' }] } }],
    ['edits without a type', { context_management: { edits: [{}] } }],
    ['something else', { context_management: true }],
    ['transforms', { transforms: ['middle-out'] }],
    ['truncation', { truncation: 'auto' }],
    ['a compaction', { compaction: { type: 'summarize' } }],
    ['a plugin that compresses', { plugins: [{ id: 'web' }, { id: 'context-compression' }] }],
    ['one that says so', { plugins: [{ id: 'context-compression', enabled: true }] }],
    ['a prompt that is cut', { truncate_prompt_tokens: -1 }],
    ['a nested field', { additionalModelRequestFields: { context_management: {} } }],
    ['a deep field', { extra_body: { options: [{ num_ctx: 4096 }] } }],
    ['an unknown field', { promptTruncation: 'AUTO' }],
    ['an unknown type', { steps: [{ type: 'prune_context' }] }],
    ['a thinking edit beside another field', thinkingAnd({ compact_at: 1000 })],
  ])('where a request has %s', (_, fields) => {
    expect(scanned('anthropic_messages', request(fields))?.forgets).toBe(true)
  })

  it('where a request has doubled keys in its edits', () => {
    for (const management of [
      '{"edits":[{"type":"clear_thinking_1","type":"x"}]}',
      '{"edits":[{"type":"clear_thinking_1"}],"edits":[]}',
    ]) {
      const body = `{"context_management":${management},"messages":[]}`
      expect(scanned('anthropic_messages', body)?.forgets).toBe(true)
    }
  })

  it('where a conversation with OpenAI is compacted', () => {
    const compaction = [{ type: 'compaction', compact_threshold: 200_000 }]
    const body = { model: 'm', input: [], context_management: compaction }
    expect(scanned('openai_responses', body)?.forgets).toBe(true)
  })

  it.each<[string, object]>([
    [
      'deletes results',
      { type: 'cache_edits', edits: [{ type: 'delete', cache_reference: 't1' }] },
    ],
    ['names results to delete them', toolResult('b', { cache_reference: 't1' })],
  ])('where a client %s', (_, block) => {
    expect(scanned('anthropic_messages', request({}, block))?.forgets).toBe(true)
  })
})

describe('a provider forgets no results', () => {
  it.each<[RouteName, object]>([
    ['anthropic_messages', request({})],
    // What Claude Code sends.
    ['anthropic_messages', request({ context_management: { edits: [CLEAR_THINKING] } })],
    ['anthropic_messages', request({ edits: [CLEAR_THINKING] })],
    ['anthropic_messages', request(thinkingAnd({ note: 1 }))],
    ['anthropic_messages', request({ context_management: null }, { type: 'text', text: 'a' })],
    ['openai_chat', { messages: [], plugins: [{ id: 'web', x: 'compact' }, { id: ['prompt'] }] }],
    ['openai_chat', { messages: [], plugins: [{ id: 'context-compression', enabled: false }] }],
    ['openai_chat', { messages: [], prompt_truncation: 'OFF', truncate_prompt_tokens: null }],
    ['openai_chat', { transforms: [], messages: [], x: { clear_thinking: false } }],
    ['openai_chat', { messages: [], tools: [{ function: { name: 'truncate', compact: {} } }] }],
    ['openai_responses', { input: [], client_metadata: { kind: 'compaction', compact: 1 } }],
    ['openai_responses', { input: [], reasoning: { summary: 'auto' }, stream_options: {} }],
    ['anthropic_messages', request({ anthropic_beta: ['context-management-2025-06-27'] })],
    ['anthropic_messages', request({ thinking: { clear_thinking: true }, nuclear: 1 })],
    ['gemini_generate', { contents: [], generationConfig: { responseSchema: { compact: {} } } }],
    ['bedrock_converse', { messages: [], inferenceConfig: { maxTokens: 5 } }],
    ['openai_responses', { model: 'm', input: [], truncation: 'disabled' }],
  ])('%s %j', (route, body) => {
    expect(scanned(route, body)?.forgets).toBe(false)
  })
})

/** Members with texts, schemas and names, by what documents them. */
const NO_SETTINGS = {
  Anthropic:
    'messages system tools tool_choice model metadata stop_sequences output_config output_format ' +
    'anthropic_beta betas',
  'OpenAI, OpenRouter':
    'functions function_call response_format json_schema schema format stop user logit_bias ' +
    'prediction input instructions text prompt prompt_variables client_metadata models',
  Gemini:
    'contents systemInstruction system_instruction toolConfig tool_config responseSchema ' +
    'response_schema responseJsonSchema labels',
  'Bedrock, Cohere, vLLM':
    'toolChoice promptVariables requestMetadata documents guided_json structured_outputs',
}

describe.each(Object.entries(NO_SETTINGS))('what a request to %s has as data', (_, names) => {
  it.each(names.split(' '))('says nothing of its provider: %s', name => {
    expect(letsForget(name, { truncate: 5 })).toBe(false)
    expect(letsForget(`${name}_x`, { truncate: 5 })).toBe(true)
    expect(letsForget(`${name}_x`, { truncate: undefined })).toBe(false)
  })
})

/** Members with it are too large to be parsed. */
const LARGE = 'x'.repeat(100_000)

describe('every field that lets a provider forget', () => {
  // As their documentation has them, which `VENDOR_FORGETTING` names.
  const fields = Object.entries({
    Anthropic: 'context_management compaction',
    OpenAI: 'truncation truncation_strategy',
    OpenRouter: 'transforms',
    vLLM: 'truncate_prompt_tokens',
    Ollama: 'num_ctx num_keep shift truncate',
    'LM Studio': 'contextOverflowPolicy context_overflow_policy',
    'llama.cpp': 'n_keep n_discard context_shift',
    Fireworks: 'prompt_truncate_len',
    Cohere: 'prompt_truncation',
    Google: 'contextWindowCompression context_window_compression',
  }).flatMap(([vendor, names]) => names.split(' ').map(name => [vendor, name] as const))
  const bodies: Readonly<Record<RouteName, object>> = {
    anthropic_messages: { messages: [] },
    openai_chat: { messages: [] },
    openai_responses: { input: [] },
    gemini_generate: { contents: [] },
    bedrock_converse: { messages: [] },
  }
  const routes = Object.keys(bodies) as RouteName[]

  it.each(fields)('of %s is found in each dialect: %s', (_, field) => {
    for (const route of routes) {
      const forgets = (more: object) => scanned(route, { ...bodies[route], ...more })?.forgets
      expect(forgets({ [field]: 4096 })).toBe(true)
      expect(forgets({ x: { y: [{ [field]: true }] } })).toBe(true)
      expect(forgets({ x: { pad: LARGE, [field]: true } })).toBe(true)
      expect(forgets({ [field]: null })).toBe(false)
    }
  })

  it.each([
    ...['compact_20260112', 'clear_tool_uses_20250919', 'compaction', 'context-compression'],
  ])('or item: %s', item => {
    for (const route of routes) {
      expect(scanned(route, { ...bodies[route], x: [{ id: item }] })?.forgets).toBe(true)
      expect(scanned(route, { ...bodies[route], x: [{ type: item }] })?.forgets).toBe(true)
      const large = { pad: LARGE, y: [{ type: item }] }
      expect(scanned(route, { ...bodies[route], large })?.forgets).toBe(true)
    }
  })

  it('is found by its escaped name, in a large member, and if it is there twice', () => {
    const large = JSON.stringify({ pad: LARGE, truncate_prompt_tokens: 9 })
    for (const members of [
      String.raw`"truncat\u0065_prompt_tokens":9`,
      `"extra_body":${large}`,
      '"truncation":"auto","truncation":"disabled"',
      '"truncation":"disabled","truncation":"auto"',
      '"x":{"truncate":5,"truncate":null}',
    ]) {
      expect(scanned('openai_chat', `{"messages":[],${members}}`)?.forgets).toBe(true)
    }
  })
})

describe('an upstream drops parts of prompts by itself', () => {
  it.each([
    ['http://127.0.0.1:11434/v1', '', true],
    ['https://ollama.internal/v1', '', true],
    ['http://127.0.0.1:8080', 'my-ollama', true],
    ['http://localhost:1234/v1', '', true],
    ['https://api.openai.com', 'openai', false],
    ['http://127.0.0.1:8000/v1', 'vllm', false],
  ])('%s %s: %s', (url, name, forgets) => {
    expect(upstreamForgets(url, name)).toBe(forgets)
  })

  it('if a header asks its gateway to', () => {
    const asking = (value: string) => (name: string) => (name.startsWith('helicone-') ? value : '')
    expect(headersLetForget(asking('truncate'))).toBe(true)
    expect(headersLetForget(asking('fallback'))).toBe(false)
  })
})
