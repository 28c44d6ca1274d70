import { describe, expect, it } from 'vitest'
import {
  PROFILES,
  resolveTokenizer,
  TOKENIZER_IDS,
  type TokenizerId,
  tokenizerId,
} from '../../../../src/core/tokens/profiles.ts'
import { counters } from '../../../support/vocabularies.ts'

const MODELS = {
  anthropic_class: [
    'claude-sonnet-4-6',
    'claude-opus-4.5',
    'Claude-3-5-Haiku-20241022',
    'anthropic/claude-3.5-sonnet',
    'openrouter/anthropic/claude-sonnet-4:beta',
    'us.anthropic.claude-sonnet-4-20250514-v1:0',
    'anthropic.claude-v2',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-3-v1:0',
    'claude-opus-4@20250514',
    'publishers/anthropic/models/claude-opus-4@20250514',
    'glm-5.1',
    'z-ai/glm-4.6',
  ],
  openai_o200k: [
    'gpt-5',
    'gpt-5-mini-2025-08-07',
    'gpt-5.1-codex',
    'gpt-4o',
    'gpt-4o-mini-2024-07-18',
    'chatgpt-4o-latest',
    'openai/gpt-4.1',
    'gpt-4.5-preview',
    'o1-preview',
    'o3',
    'o4-mini',
    'ft:gpt-4o:acme::abc',
    ' GPT-5 ',
    'gpt-oss:20b',
    'openai/gpt-oss-120b',
    'openai.gpt-oss-120b-1:0',
  ],
  openai_cl100k: [
    'gpt-4',
    'gpt-4-0613',
    'azure/gpt-4',
    'gpt-4-turbo',
    'gpt-3.5-turbo',
    'gpt-35-turbo-16k',
    'ft:gpt-3.5-turbo-0125:acme',
    'text-embedding-3-small',
    'text-embedding-ada-002',
  ],
  ollama_bpe: [
    'gemma4:26b',
    'llama3.1:8b',
    'meta-llama/Llama-3.1-8B-Instruct',
    'meta.llama3-8b-instruct-v1:0',
    'codellama:13b',
    'qwen2.5-coder:7b',
    'mixtral:8x7b',
    'some-finetune:latest',
    'my-model:1.5b-q4_0',
  ],
  o200k_estimate: [
    'mystery-model',
    'gemini-2.5-pro',
    'gpt-6',
    'gpt-4.2',
    'o100',
    'x'.repeat(10_000),
  ],
  o200k_base: ['', '  ', 'openai/'],
} as const

describe('resolveTokenizer', () => {
  it.each(Object.entries(MODELS))('%s', (expected, models) => {
    for (const model of models)
      expect({ model, id: resolveTokenizer({ model }) }).toEqual({ model, id: expected })
  })

  it('lets a named tokenizer win, and has a default', () => {
    expect(resolveTokenizer({ tokenizer: 'cl100k_base', model: 'gpt-5' })).toBe('cl100k_base')
    expect(resolveTokenizer({})).toBe('o200k_base')
    expect(resolveTokenizer({ tokenizer: undefined, model: undefined })).toBe('o200k_base')
  })

  it('refuses unknown tokenizers and fields of a wrong type', () => {
    for (const tokenizer of ['', 'gpt-5', 'O200K_BASE', '__proto__', 'toString', 7, null]) {
      expect(() => resolveTokenizer({ tokenizer: tokenizer as string })).toThrow(/invalid_request/)
    }
    expect(() => resolveTokenizer({ model: 7 as unknown as string })).toThrow(/invalid_request/)
    expect(() => resolveTokenizer({ model: null as unknown as string })).toThrow(/invalid_request/)
  })
})

describe('profiles', () => {
  it('have a counter each, which says whether it is exact', () => {
    for (const id of TOKENIZER_IDS) {
      const counter = counters.get(id)
      expect(counter.id).toBe(id)
      expect(counter.exact).toBe(PROFILES[id].exact)
      expect(counters.get(id)).toBe(counter)
      expect(counter.count('')).toBe(0)
    }
    expect(() => counters.get('nope' as 'heuristic')).toThrow(/invalid_request/)
    expect(tokenizerId('heuristic')).toBe('heuristic')
  })

  it('have the figures of the specification', () => {
    const charsPerToken = (id: TokenizerId) => PROFILES[id].charsPerToken
    expect(charsPerToken('anthropic_class')).toBe(3.5)
    expect(charsPerToken('openai_o200k')).toBe(4)
    expect(charsPerToken('openai_cl100k')).toBe(3.7)
    expect(charsPerToken('ollama_bpe')).toBe(3.8)
  })

  it('count by merges or by bytes', () => {
    const text = 'naïve text '.repeat(50)
    const bytes = Buffer.byteLength(text)
    expect(counters.get('anthropic_class').count(text)).toBe(counters.get('o200k_base').count(text))
    expect(counters.get('openai_cl100k').count(text)).toBe(counters.get('cl100k_base').count(text))
    const ollama = counters.get('ollama_bpe')
    expect(ollama.count(text)).toBe(Math.ceil(bytes / 3.8))
    expect(counters.get('heuristic').count('\ud800')).toBe(1)
    expect(ollama.countUpTo(text, 1)).toBeGreaterThan(1)
    expect(ollama.countUpTo(text, 10_000)).toBe(ollama.count(text))
    expect(() => ollama.count(7 as unknown as string)).toThrow(/invalid_request/)
  })
})
