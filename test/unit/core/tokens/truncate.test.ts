import { describe, expect, it } from 'vitest'
import { truncateToTokens } from '../../../../src/core/tokens/truncate.ts'
import { counters } from '../../../support/vocabularies.ts'

const TEXTS = [
  'The quick brown fox jumps over the lazy dog. '.repeat(20),
  'unbelievable unbelievability '.repeat(5),
  'x    foo\n\n   bar    ',
  '👩‍👩‍👧‍👦 emoji 😀😀😀 and é́ '.repeat(4),
  '中文没有空格的文字'.repeat(10),
  `{"id":1,"name":"a"}\n`.repeat(30),
  'lone \ud83d surrogates \ude00 '.repeat(3),
]

describe('truncateToTokens', () => {
  it.each(['o200k_base', 'cl100k_base', 'ollama_bpe'] as const)(
    'gives the longest prefix that fits: %s',
    id => {
      const counter = counters.get(id)
      for (const text of TEXTS) {
        const tokens = counter.count(text)
        for (let limit = 0; limit <= tokens + 1; limit += 1 + (limit >> 2)) {
          const prefix = truncateToTokens(counter, text, limit)
          expect(text.startsWith(prefix)).toBe(true)
          expect(counter.count(prefix)).toBeLessThanOrEqual(limit)
          if (prefix.isWellFormed() || !text.isWellFormed()) continue
          expect.fail(`a surrogate pair was cut: ${JSON.stringify(prefix)}`)
        }
        expect(truncateToTokens(counter, text, tokens)).toBe(text)
        expect(truncateToTokens(counter, text, 0)).toBe('')
        expect(truncateToTokens(counter, text, -3)).toBe('')
      }
    },
  )

  it('finds the longest one where counts shrink as text grows', () => {
    const counter = counters.get('o200k_base')
    for (const text of TEXTS) {
      for (const limit of [1, 2, 3, 5, 8, 13]) {
        let longest = 0
        for (let i = 1; i <= text.length; i++) {
          if (counter.count(text.slice(0, i)) <= limit && text.slice(0, i).isWellFormed())
            longest = i
        }
        if (!text.isWellFormed()) continue
        expect(truncateToTokens(counter, text, limit).length).toBe(longest)
      }
    }
  })

  it('stays fast on one long word', () => {
    const counter = counters.get('o200k_base')
    const text = 'qwzx'.repeat(100_000)
    const prefix = truncateToTokens(counter, text, 1000)
    expect(counter.count(prefix)).toBeLessThanOrEqual(1000)
    expect(counter.count(text.slice(0, prefix.length + 8))).toBeGreaterThan(1000)
  })
})
