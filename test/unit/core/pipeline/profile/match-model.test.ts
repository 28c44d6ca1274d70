import { describe, expect, it } from 'vitest'
import { matchModel } from '../../../../../src/core/pipeline/profile/match-model.ts'

describe('a model', () => {
  it.each([
    ['claude-sonnet-4.6', 'claude-sonnet-4-6'],
    ['claude-sonnet-4-6', 'claude-sonnet-4.6'],
    ['claude-sonnet-4.6', 'claude-sonnet-4-6-20260101'],
    ['claude-sonnet-4.6', 'us.anthropic.claude-sonnet-4-6-20260101-v1:0'],
    ['claude-sonnet-4', 'projects/p/models/claude-sonnet-4@20250514'],
    ['claude-sonnet-4-20250514', 'claude-sonnet-4'],
    ['gpt-4o', 'openai/gpt-4o-2024-08-06'],
    ['gpt-4', 'gpt-4-0613'],
    ['GPT-5', ' gpt-5-latest '],
    ['gpt-oss:20b', 'gpt-oss:20b'],
    ['glm-5.1', 'z-ai/glm-5.1'],
  ])('named %s is %s', (pattern, model) => {
    expect(matchModel([pattern], model)).toBe(pattern)
  })

  it.each([
    ['claude-sonnet-4', 'claude-sonnet-4-6'],
    ['claude-sonnet-4.6', 'claude-sonnet-4.60'],
    ['claude', 'claude-sonnet-4.6'],
    ['gpt-oss:20b', 'gpt-oss:120b'],
    ['gpt-5', 'gpt-5-mini'],
    ['gpt-5', undefined],
    ['gpt-5*', undefined],
    ['', 'gpt-5'],
    ['', ''],
  ])('named %s is not %s', (pattern, model) => {
    expect(matchModel([pattern], model)).toBeUndefined()
  })

  it('fits beginnings with a star, and a star alone fits even none', () => {
    expect(matchModel(['gpt-4.*'], 'gpt-4-1-mini')).toBe('gpt-4.*')
    expect(matchModel(['Claude-*'], 'anthropic/claude-opus-5')).toBe('Claude-*')
    expect(matchModel(['*'], 'anything')).toBe('*')
    expect(matchModel(['*'], undefined)).toBe('*')
  })

  it('has the best of several patterns: the whole name, then the longest beginning', () => {
    const patterns = ['*', 'claude-*', 'claude-sonnet-*', 'claude-sonnet-4.6']
    expect(matchModel(patterns, 'claude-sonnet-4-6-20260101')).toBe('claude-sonnet-4.6')
    expect(matchModel(patterns.toReversed(), 'claude-sonnet-5')).toBe('claude-sonnet-*')
    expect(matchModel(patterns, 'claude-haiku-5')).toBe('claude-*')
    expect(matchModel(patterns, 'gpt-5')).toBe('*')
  })

  it('is looked for in bounded time, however long its name', () => {
    for (const part of ['-2024', '@20250514', '.', 'a.', '/', '-v1', '-latest', '1.']) {
      expect(matchModel(['gpt-5'], part.repeat(1_000_000))).toBeUndefined()
    }
  })
})
