import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import type { EncodeAnswer, EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../src/core/hints/hint-line.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../src/core/pipeline/decode.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { withoutNotes } from '../../../../src/core/pipeline/wrapped-format.ts'
import { explain } from '../../../../src/index.ts'
import { words } from '../../../support/made-text.ts'
import { FULL_RUNS } from '../../../support/runs.ts'
import { someOf } from '../../../support/short-runs.ts'
import { counters } from '../../../support/vocabularies.ts'

const rows = Array.from({ length: 50 }, (_, id) => ({ id, text: words(12, id * 20 + 1) }))
const content = JSON.stringify(rows)

interface Around {
  readonly keepsOriginals?: boolean
  readonly config?: object
}

function encodeDone(request: EncodeRequest, { keepsOriginals = true, config = {} }: Around = {}) {
  const pipeline = pipelineSchema.parse(config)
  const context = { counters, maxDepth: 1_000, maxDecodedChars: 1e7, keepsOriginals, pipeline }
  return encodeOperation.run(request, context)
}

const encode = (request: EncodeRequest, around?: Around) => encodeDone(request, around).answer

function refusalOf(request: EncodeRequest, around?: Around): AppError {
  try {
    encode(request, around)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('not refused')
}

const lastLine = ({ content: text }: EncodeAnswer) => text.slice(text.lastIndexOf('\n') + 1)

describe('a budget', () => {
  it.each(['trim', 'elide'] as const)('leaves out what does not fit in mode %s', mode => {
    const { answer, keep = [] } = encodeDone({ content, mode, budget_tokens: 600 })
    const id = hash('sha256', content, 'hex').slice(0, 24)
    expect(answer).toMatchObject({ lossless: false, truncated: true, elided: [{ hash: id }] })
    expect(answer.tokens.final).toBeLessThanOrEqual(600)
    expect(answer.tokens.final).toBeGreaterThan(500)
    expect(parseHint(lastLine(answer))).toMatchObject({ family: 'elision', hash: id })
    expect(keep).toHaveLength(1)
    expect(answer.hints).toEqual([{ family: 'elision', text: lastLine(answer) }])
    expect(answer.agent_hint).toBe(lastLine(answer))
  })

  it.each(['trim', 'elide'] as const)('has a row in each gap of a list in mode %s', mode => {
    const orders = rows.map(({ id }) => ({
      id,
      state: id === 30 ? 'failed' : 'open',
      total: id * 7,
    }))
    const answer = encode({ content: JSON.stringify({ orders }), mode, budget_tokens: 200 })
    const lines = answer.content.split('\n')
    const [, shown] = /^orders\[(\d+) of 50\]:$/m.exec(answer.content) ?? []
    const gaps = lines.flatMap(line => /^… (\d+) not shown$/.exec(line)?.[1] ?? []).map(Number)
    expect(gaps.length).toBeGreaterThan(0)
    expect(gaps.reduce((sum, gap) => sum + gap, Number(shown))).toBe(50)
    const items = parseHint(lastLine(answer))
    expect(items).toMatchObject({
      parts: expect.arrayContaining([
        expect.objectContaining({ unit: 'items', omitted: 50 - Number(shown) }),
      ]),
    })
    // Rows show where items are missing, and nothing shows where fields are.
    expect(lastLine(answer)).not.toContain('items at $')
    expect(lastLine(answer)).toContain(' fields at $.orders[:].total')
  })

  it.each([0, 1, 28, 100, 599])('of %d tokens is met, or refused with one that is', budget => {
    const request = { content, mode: 'trim', budget_tokens: budget } as const
    const answer = budget < 28 ? null : encode(request)
    if (answer !== null) expect(answer.tokens.final).toBeLessThanOrEqual(budget)
    else {
      const { code, extras } = refusalOf(request)
      expect(code).toBe('budget_too_small')
      const minimum = extras.minimum_tokens!
      expect(encode({ ...request, budget_tokens: minimum }).tokens.final).toBe(minimum)
      expect(refusalOf({ ...request, budget_tokens: minimum - 1 }).code).toBe('budget_too_small')
    }
  })

  it('as large as any has no effect', () => {
    const { lossless } = encode({ content, mode: 'trim', budget_tokens: Number.MAX_SAFE_INTEGER })
    expect(lossless).toBe(true)
  })

  it.each([
    ['lossless', { mode: 'lossless' }, {}],
    ['an error, which is told in full or not at all', { mode: 'trim', is_error: true }, {}],
    [
      'a policy without markers',
      { mode: 'trim' },
      { config: { hints: { types: { elision: { enabled: false } } } } },
    ],
    ['a policy without hints', { mode: 'trim' }, { config: { hints: { enabled: false } } }],
  ] as const)('leaves nothing out of %s', (_, fields, around) => {
    const lossless = encode({ content }).tokens.final
    const { code, extras } = refusalOf({ content, budget_tokens: 600, ...fields }, around)
    expect([code, extras.minimum_tokens]).toEqual(['budget_too_small', lossless])
  })

  it('leaves nothing out where nobody keeps originals', () => {
    const request = { content, mode: 'trim', budget_tokens: 600 } as const
    expect(refusalOf(request, { keepsOriginals: false }).code).toBe('invalid_request')
  })

  it('goes by the formats that are allowed', () => {
    const { format } = encode({
      content,
      mode: 'trim',
      budget_tokens: 600,
      formats: ['json_compact', 'passthrough'],
    })
    expect(format).toMatch(/^trimmed@1;(?:json_compact@1|passthrough)$/)
  })

  it('is never met by what an exact counter sees grow, whatever an estimate says', () => {
    const request = { content, mode: 'trim', tokenizer: 'heuristic', budget_tokens: 500 } as const
    const answer = encode(request)
    for (const id of ['o200k_base', 'cl100k_base'] as const) {
      const counter = counters.get(id)
      expect(counter.count(answer.content)).toBeLessThan(counter.count(content))
    }
  })

  it('keeps blockquotes, and says what else is missing', () => {
    const prose = Array.from({ length: 40 }, (_, i) => words(14, i * 50))
    const markdown = ['# Report', '', '> keep me', '', ...prose, '', '> and me'].join('\n')
    const answer = encode({ content: markdown, mode: 'trim', budget_tokens: 500 })
    expect(answer.content).toContain('> keep me')
    expect(answer.content).toContain('> and me')
    expect(answer.content).toMatch(/\[… lines \d+-\d+\]/)
    const few = refusalOf({ content: markdown, mode: 'trim', budget_tokens: 30 })
    const least = encode({
      content: markdown,
      mode: 'trim',
      budget_tokens: few.extras.minimum_tokens!,
    })
    expect(least.content).toContain('> keep me')
    expect(least.content).toContain('> and me')
  })

  it('names fewer places where these alone would not fit', () => {
    const quotes = Array.from({ length: 30 }, (_, i) => `> ${words(8, i * 40)}`)
    const text = ['# A', '', ...quotes, '', '## B', '', words(400, 7)].join('\n')
    const minimum = refusalOf({ content: text, mode: 'trim', budget_tokens: 50 }).extras
      .minimum_tokens!
    const parts = (budget_tokens: number) => {
      const hint = parseHint(lastLine(encode({ content: text, mode: 'trim', budget_tokens })))
      return hint?.family === 'elision' ? hint.parts : []
    }
    expect(parts(minimum).every(({ at }) => at === undefined)).toBe(true)
    expect(parts(minimum + 12).some(({ at }) => at !== undefined)).toBe(true)
  })

  it('ends with our marker, whatever markers the content has', () => {
    const forged = `> [3 lines not shown | hash=${'0'.repeat(24)}]`
    const text = [forged, ...rows.map(row => row.text), '[… lines 3-9]', forged].join('\n')
    const answer = encode({ content: text, mode: 'trim', budget_tokens: 400 })
    expect(lastLine(answer)).toContain(hash('sha256', text, 'hex').slice(0, 24))
    expect(() => decodeContent(answer.content, answer.format, 1e6)).toThrow(
      hash('sha256', text, 'hex').slice(0, 24),
    )
  })
})

describe('what was left out', () => {
  it('can be decoded to nothing, and the failure names where it is', () => {
    const answer = encode({ content, mode: 'trim', budget_tokens: 600 })
    const id = answer.elided[0]!.hash
    expect(() => decodeContent(answer.content, answer.format, 1e6)).toThrow(`/v1/retrieve/${id}`)
    expect(() => decodeContent('no marker', answer.format, 1e6)).toThrow(/left out$/)
  })

  it('what a budget left out is accounted for', () => {
    const { savings, tokens, elided } = encode({ content, mode: 'trim', budget_tokens: 600 })
    const lossless = encode({ content }).tokens.final
    expect(savings).toEqual({
      dedup_tokens: 0,
      encoder_tokens: tokens.baseline - lossless,
      elided_tokens: lossless - tokens.final,
    })
    expect(elided[0]).toMatchObject({ tokens: lossless - tokens.final })
  })
})

describe('notes beside a content', () => {
  const paged = {
    content,
    tool: 'list',
    args: { page: 1 },
    pagination: { total: 200, returned: 50 },
  }

  it('stand on lines of their own, and are no part of what is decoded', () => {
    const answer = encode(paged)
    expect(answer.hints.length).toBeGreaterThan(0)
    expect(answer.format).toMatch(/^noted@1,\d,\d;/)
    expect(JSON.parse(decodeContent(answer.content, answer.format, 1e6).content)).toEqual(rows)
  })

  it('count in the budget, and go before anything of the content does', () => {
    const noted = encode(paged)
    const plain = encode({ content })
    const exact = encode({ ...paged, budget_tokens: noted.tokens.final })
    expect(exact.content).toBe(noted.content)
    const tight = encode({ ...paged, budget_tokens: noted.tokens.final - 1, mode: 'trim' })
    expect(tight).toMatchObject({ content: plain.content, hints: [], lossless: true })
  })

  it('stay where parts are left out', () => {
    const answer = encode({ ...paged, mode: 'trim', budget_tokens: 600 })
    expect(answer.hints.map(({ family }) => family)).toContain('metadata')
    for (const { text } of answer.hints) expect(answer.content.split('\n')).toContain(text)
  })

  it.each([
    ['noted@1,1,0;csv@1', 'hint\na,b\n1,2', 'a,b\n1,2'],
    ['noted@1,1,1;csv@1', 'hint\na\n1\nhint', 'a\n1'],
    ['noted@1,0,2;csv@1', 'a\n1\nhint\nhint', 'a\n1'],
    ['noted@1,1,1;passthrough', 'hint\n\nhint', ''],
    ['csv@1', 'a\n1', 'a\n1'],
  ])('are taken off by the format %s', (format, text, rest) => {
    expect(withoutNotes(text, format).content).toBe(rest)
  })

  it.each([
    ['noted@1,1,0;csv@1', 'no line break'],
    ['noted@1,1,1;csv@1', 'one\ntwo'],
    ['noted@1,9,9;csv@1', ''],
  ])('that are not there are no text of the format %s', (format, text) => {
    expect(() => withoutNotes(text, format)).toThrow(/not_decodable/)
  })
})

describe('hostile content within a budget', () => {
  /** Thousands; a short run shows the same with fewer. */
  const MANY = FULL_RUNS ? 20_000 : 1_000
  const repeated = (line: string, times: number) => `${line}\n`.repeat(times)
  it.each([
    ['one long line', 'x'.repeat(15 * MANY)],
    ['empty lines', '\n'.repeat(2.5 * MANY)],
    ['headings', repeated('# heading', MANY)],
    ['fences', `# t\n${repeated('```\na\n```', MANY)}`],
    ['a fence that is never closed', `# t\n\`\`\`js\n${repeated(words(3, 1), MANY / 4)}`],
    ['a table that is not one', `# t\n${repeated('| a | b', MANY)}`],
    [
      'many keys',
      JSON.stringify(
        Object.fromEntries(
          rows.flatMap(({ text }, i) => text.split(' ').map((w, j) => [`${w}${i}`, j])),
        ),
      ),
    ],
    [
      'a key longer than any line',
      JSON.stringify({ ['k'.repeat(MANY)]: words(MANY / 10, 1), b: 1 }),
    ],
    ['odd keys', `{"":"${words(400, 1)}","__proto__":"${words(400, 9)}","a.b":1,"":2}`],
    ['lone surrogates', JSON.stringify([words(300, 1), '\ud800', '\udc00', words(300, 5)])],
    ['deep nesting', `${'[{"a":'.repeat(400)}"${words(800, 1)}"${'}]'.repeat(400)}`],
    ['empty lists', `[${'[],'.repeat(MANY / 4)}[]]`],
    ['beginnings of texts', JSON.stringify(rows.map(({ text }) => `${text}…[+3 chars]`))],
  ])('%s', (_, text) => {
    const lossless = encode({ content: text }).tokens.final
    for (const share of someOf([0.1, 0.5, 0.9], 1)) {
      const budget = Math.max(40, Math.floor(lossless * share))
      if (budget >= lossless) continue
      const answer = encode({ content: text, mode: 'trim', budget_tokens: budget })
      expect(answer.tokens.final).toBeLessThanOrEqual(budget)
      expect(answer.lossless).toBe(false)
    }
  })
})

describe('explain', () => {
  it('shows the plan of a budget, proven best, with what is missing where', () => {
    const { plan, final, candidates } = explain({ content, mode: 'trim', budget_tokens: 600 })
    expect(final).toBe(encode({ content, mode: 'trim', budget_tokens: 600 }).tokens.final)
    expect(plan).toMatchObject({ budget_tokens: 600, optimal: true, gap: 0 })
    expect(plan!.worth).toBeLessThan(plan!.whole_worth)
    expect(plan!.upper_bound).toBeGreaterThanOrEqual(plan!.worth)
    expect(plan!.classes).toBeGreaterThanOrEqual(50)
    const texts = plan!.omissions.filter(({ at }) => at === '$[:].text')
    expect(texts.length).toBeGreaterThan(0)
    expect(candidates[0]!.verdict).toBe('sent')
  })

  it('has no plan where all fits, and refuses what encode refuses', () => {
    expect(explain({ content }).plan).toBeNull()
    expect(() => explain({ content, budget_tokens: 9 })).toThrow(/budget_too_small/)
  })

  it('lists the parts of a tree with the tokens of every way, the chosen one the cheapest', () => {
    const value = {
      meta: { page: 1, tags: ['red one', 'blue'] },
      deep: { a: { b: { c: 'only one' } } },
      items: [
        { id: 1, name: 'ada' },
        { id: 2, name: 'alan' },
      ],
      raw: '{"a": [1, 2], "b": {"c": "long text here"}}',
    }
    const { parts, format } = explain({ content: JSON.stringify(value) })
    expect(format).toBe('tree@2')
    expect(parts.map(({ path, chosen }) => `${path} ${chosen}`)).toEqual([
      '$ lines',
      '$.meta lines',
      '$.meta.tags brackets',
      '$.deep path',
      '$.deep.a path',
      '$.deep.a.b path',
      '$.items table',
      '$.raw value',
      '$.raw(json) lines',
      '$.raw(json).a brackets',
      '$.raw(json).b path',
    ])
    for (const { chosen, tokens, options } of parts) {
      const best = options.reduce((a, b) => (b.price < a.price ? b : a))
      expect([best.way, best.tokens]).toEqual([chosen, tokens])
    }
    expect(parts.find(({ path }) => path === '$.deep')?.options.length).toBe(3)
    expect(parts.map(({ depth }) => depth).slice(0, 6)).toEqual([0, 1, 2, 1, 2, 3])
  })

  it('lists no parts of what is no tree', () => {
    expect(explain({ content: 'words' }).parts).toEqual([])
    expect(explain({ content, mode: 'trim', budget_tokens: 600 }).parts).toEqual([])
  })
})
