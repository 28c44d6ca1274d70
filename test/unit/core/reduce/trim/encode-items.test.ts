import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../../src/core/base/errors.ts'
import { type EncodeRequest, encodeRequest } from '../../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { word, words } from '../../../../support/made-text.ts'
import { someOf } from '../../../../support/short-runs.ts'
import { counters } from '../../../../support/vocabularies.ts'

const context = { counters, maxDepth: 64, maxDecodedChars: 1_000_000, keepsOriginals: true }

const issues = Array.from({ length: 40 }, (_, i) => ({
  number: i + 1,
  title: `Title ${word(i)}`,
  state: i % 2 === 0 ? 'open' : 'closed',
  body: words(45, i * 100),
  user: { login: word(i), avatar_url: `https://example.org/${word(i + 50)}` },
  created_at: '2026-01-02T03:04:05Z',
}))
const content = JSON.stringify(issues)

function encode(fields: Partial<EncodeRequest>) {
  const request = { content, mode: 'trim', budget_tokens: 900, ...fields } as const
  return encodeOperation.run(request, context).answer
}

function refusal(fields: Partial<EncodeRequest>): AppError {
  try {
    encode(fields)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('not refused')
}

/** What is kept, where JSON was asked for. */
function keptOf(fields: Partial<EncodeRequest>): Record<string, unknown>[] {
  const { content: text, tokens } = encode({ formats: ['json_compact'], ...fields })
  expect(tokens.final).toBeLessThanOrEqual(fields.budget_tokens ?? 900)
  const kept = JSON.parse(text) as unknown[]
  expect(kept.pop()).toMatch(/^> \[.* not shown /)
  return kept as Record<string, unknown>[]
}

describe('levels', () => {
  it('cap what is told of each item', () => {
    const budget_tokens = 20_000
    for (const item of keptOf({ level: 'minimal', budget_tokens })) {
      expect(Object.keys(item)).toEqual(['number', 'title', 'state'])
    }
    for (const item of keptOf({ level: 'standard', budget_tokens })) {
      expect(Object.keys(item)).toEqual(['number', 'title', 'state', 'body', 'user'])
      expect(Object.keys(item['user'] as object)).toEqual(['login'])
    }
  })

  it('leave all of it where nothing is above them, or nothing is saved', () => {
    const { lossless } = encode({ level: 'full', budget_tokens: 20_000 })
    expect(lossless).toBe(true)
    const names = JSON.stringify(issues.slice(0, 2).map(({ number, title }) => ({ number, title })))
    expect(encode({ content: names, level: 'minimal', budget_tokens: 500 }).lossless).toBe(true)
  })

  it('are each item’s own where none is asked for: all are named before one is told in full', () => {
    const kept = keptOf({ budget_tokens: 1_600, strategy: 'element_count' })
    expect(kept).toHaveLength(40)
    const told = kept.filter(item => 'body' in item).map(item => Number(item['number']))
    expect(told.length).toBeGreaterThan(2)
    expect(told.length).toBeLessThan(35)
    expect(Math.min(...told)).toBe(1)
  })
})

it('tells a part of an item that is larger than the budget', () => {
  const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [word(i), i]))
  const { tokens } = encode({ content: JSON.stringify([wide, { id: 2 }]), budget_tokens: 300 })
  expect(tokens.final).toBeGreaterThan(250)
})

describe('threads', () => {
  const discussions = Array.from({ length: 12 }, (_, id) => ({
    id: `d${id}`,
    resolved: id % 2 === 0,
    notes: Array.from({ length: 5 }, (_, n) => ({
      id: n,
      body: `note ${id}.${n} ${words(8, id * 9 + n)}`,
    })),
  }))
  const tool = 'mcp__gitlab__get_merge_request_discussions'

  it('keep their first and last comment, the open ones before the settled', () => {
    const kept = keptOf({ content: JSON.stringify(discussions), tool, budget_tokens: 600 })
    expect(kept.length).toBeGreaterThan(3)
    expect(kept.length).toBeLessThan(12)
    for (const { notes } of kept) {
      const ids = (notes as { id: number }[]).map(({ id }) => id)
      expect(ids).toContain(0)
      expect(ids).toContain(4)
      for (const note of notes as object[]) expect(note).toHaveProperty('body')
    }
    // One that is settled may fill what no open one fits.
    const settled = kept.filter(({ resolved }) => resolved === true).length
    expect(settled).toBeLessThanOrEqual(1)
  })
})

describe('strategies', () => {
  it('weigh changes by their files', () => {
    const diffs = ['yarn.lock', 'src/a.ts', 'dist/x.min.js', 'src/b.ts'].map((path, i) => ({
      new_path: path,
      diff: words(300, i * 1_000),
    }))
    const kept = keptOf({
      content: JSON.stringify(diffs),
      tool: 'get_merge_request_diffs',
      budget_tokens: 1_500,
    })
    const chars = new Map(kept.map(item => [item['new_path'], String(item['diff'] ?? '').length]))
    expect(chars.get('src/a.ts') ?? 0).toBeGreaterThan(chars.get('yarn.lock') ?? 0)
    expect(chars.get('src/b.ts') ?? 0).toBeGreaterThan(chars.get('dist/x.min.js') ?? 0)
  })

  it('keep both ends of a log and its errors', () => {
    const lines = Array.from({ length: 300 }, (_, i) =>
      i === 150 ? 'FATAL: it broke here' : `step ${i} ${word(i)} ${word(i * 7)}`,
    )
    const rest = bodyOf(encode({ content: lines.join('\n'), tool: 'get_job_logs' }))!
    const text = decodeContent(rest.content, rest.format, 1e6).content
    expect(text).toContain('step 0 ')
    expect(text).toContain('step 299 ')
    expect(text).toContain('FATAL: it broke here')
    expect(text).not.toContain('step 140 ')
  })
})

describe('chunks', () => {
  it('are listed in the content and in the answer', () => {
    const { content: text, chunks = [] } = encode({ budget_tokens: 320 })
    expect(chunks.length).toBeGreaterThan(2)
    expect(text).toMatch(
      new RegExp(`\\n\\[chunks\\] \\d+/40 issues in ${chunks.length} chunks:\\n`),
    )
    expect(chunks[1]!.summary).toMatch(/^issues #\d+.* \(\d+ (?:open|closed).*\)$/)
    expect(chunks.reduce((sum, { count }) => sum + count, 0)).toBe(40)
  })

  it.each<Partial<EncodeRequest>>([
    { budget_tokens: 320 },
    { budget_tokens: 150 },
    { budget_tokens: 600, formats: ['json_compact'] },
  ])('are named by the marker beside the hash: %j', fields => {
    for (const chunk of someOf([1, 2], 1)) {
      const { chunks = [], elided, hints } = encode({ ...fields, chunk })
      const next = { chunk: chunk + 1, of: chunks.length }
      const { hash } = elided[0]!
      expect(parseHint(hints.at(-1)!.text)).toMatchObject({ family: 'elision', hash, next })
    }
    const { chunks: all = [] } = encode(fields)
    const last = encode({ ...fields, chunk: all.length })
    expect(last.hints.at(-1)!.text).not.toContain('next')
  })

  it('have the rest of the items, each once, in full where it fits', () => {
    const { chunks = [] } = encode({ budget_tokens: 600, formats: ['json_compact'] })
    expect(chunks.length).toBeGreaterThan(2)
    const seen = new Set<unknown>()
    for (const { chunk } of chunks) {
      for (const { number } of keptOf({ budget_tokens: 600, chunk })) {
        expect(seen.has(number)).toBe(false)
        seen.add(number)
      }
    }
    expect(seen.size).toBe(40)
  })

  it('are found by offset and limit too', () => {
    const numbers = (fields: Partial<EncodeRequest>) =>
      keptOf({ budget_tokens: 3_000, ...fields }).map(({ number }) => number)
    expect(numbers({ offset: 37 })).toEqual([38, 39, 40])
    expect(numbers({ limit: 2 })).toEqual([1, 2])
    expect(numbers({ offset: 5, limit: 1 })).toEqual([6])
  })

  it('are one where all of it fits', () => {
    expect(encode({ budget_tokens: 20_000, chunk: 1 }).lossless).toBe(true)
    expect(refusal({ budget_tokens: 20_000, chunk: 2 }).message).toContain('there is 1 chunk')
  })

  it('do not follow what the session has seen of the whole', () => {
    const asked = { chunk: 2, budget_tokens: 320 }
    const inSession = encode({ ...asked, session: 's', tool_call_id: 'a' })
    expect(inSession.chunks![1]!.returned).toBe(true)
    expect(inSession.content).toBe(encode(asked).content)
  })
})

describe('JSON that was asked for', () => {
  it('stays JSON, with the marker as a last member of an object', () => {
    const wrapped = JSON.stringify({ total: 40, _elided: 'mine', items: issues })
    const { content: text, hints } = encode({
      content: wrapped,
      formats: ['json_compact'],
      pagination: { total: 400, returned: 40 },
    })
    const value = JSON.parse(text) as Record<string, unknown>
    expect(Object.keys(value).at(-1)).toBe('__elided')
    expect(value['__elided']).toBe(hints[0]!.text)
    expect(hints).toHaveLength(1)
  })

  it.each([content, JSON.stringify({ note: '"> [', items: issues })])(
    'is verified, and what decodes it is told where all of it is',
    text => {
      const request: EncodeRequest = {
        content: text,
        mode: 'trim',
        budget_tokens: 900,
        formats: ['json_compact'],
      }
      const answer = encode(request)
      const { findings } = createVerifier(counters).check({ line: 1, entry: { request, answer } })
      expect(findings).toEqual([])
      const { content, format, elided } = answer
      expect(() => decodeContent(content, format, 1e6)).toThrow(`/v1/retrieve/${elided[0]!.hash}`)
    },
  )

  it('is not trimmed where it is a scalar', () => {
    const scalar = JSON.stringify(words(2_000, 1))
    expect(refusal({ content: scalar, formats: ['json_compact'] }).code).toBe('budget_too_small')
  })
})

describe('refusals', () => {
  it.each([
    { chunk: 99 },
    { offset: 40 },
    { chunk: 2, offset: 1 },
    { chunk: 2, limit: 1 },
    { mode: 'lossless', chunk: 2 },
    { mode: 'elide', level: 'minimal' },
    { mode: 'lossless', offset: 2 },
    { content: words(2_000, 1), chunk: 2 },
    { content: words(2_000, 1), offset: 2 },
    { content: '[]', chunk: 2 },
    { content: '[]', limit: 2 },
  ] as const)('%j', fields => {
    const error = refusal(fields)
    expect(error.code).toBe('invalid_request')
    expect(error.extras.errors?.[0]?.path).toMatch(/^(?:chunk|offset|limit|level)$/)
  })

  it.each([
    { level: 'tiny' },
    { chunk: 0 },
    { chunk: -1 },
    { chunk: 1.5 },
    { offset: -1 },
    { limit: 0 },
    { strategy: 'luck' },
    { budget_tokens: -1 },
    { budget_tokens: 1e300 },
  ])('%j by the schema', fields => {
    expect(
      encodeRequest.safeParse({ content: 'a', mode: 'trim', budget_tokens: 9, ...fields }).success,
    ).toBe(false)
  })

  it.each([0, 1, 20])('a budget of %d says what would do', budget_tokens => {
    const { code, extras } = refusal({ budget_tokens })
    expect(code).toBe('budget_too_small')
    const least = encode({ budget_tokens: extras.minimum_tokens! })
    expect(least.tokens.final).toBe(extras.minimum_tokens)
  })
})

it('tells an error in full, or not at all', () => {
  const fields = { is_error: true, level: 'minimal', chunk: 3 } as const
  expect(encode({ ...fields, budget_tokens: 20_000 }).lossless).toBe(true)
  expect(refusal(fields).code).toBe('budget_too_small')
})

it('trims lists of items of any type', () => {
  const odd = [1, 'a', null, true, [1, 2], {}, { a: [] }, words(200, 1), -0, [[[]]]]
  const content = JSON.stringify(Array.from({ length: 20 }, () => odd).flat())
  const answer = encode({ content, budget_tokens: 400 })
  expect(answer.chunks!.reduce((sum, { count }) => sum + count, 0)).toBe(200)
})

describe('the fewest tokens of a refusal', () => {
  const lists = {
    issues: content,
    names: JSON.stringify(issues.map(({ number, title }) => ({ number, title }))),
    lines: issues.map(({ number, title, state }) => `${number}. ${title} ${state}`).join('\n'),
  }
  it.each(Object.entries(lists))('are enough, in any chunk of %s', (_, list) => {
    for (const chunk of someOf([2, 3], 1)) {
      for (const budget_tokens of someOf([12, 25, 40], 1)) {
        const asked = { content: list, chunk, budget_tokens }
        const minimum = minimumOf(asked)
        if (minimum === undefined) continue
        expect(minimum).toBeGreaterThan(budget_tokens)
        expect(minimumOf({ ...asked, budget_tokens: minimum })).toBeUndefined()
      }
    }
  })

  function minimumOf(fields: Partial<EncodeRequest>): number | undefined {
    try {
      encode(fields)
      return undefined
    } catch (error) {
      return (error as AppError).extras.minimum_tokens
    }
  }
})
