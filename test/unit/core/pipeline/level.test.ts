import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../../src/core/base/errors.ts'
import type { EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { compressMessages } from '../../../../src/core/conversation/rewrite/compress-messages.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { packResultOperation } from '../../../../src/core/operations/pack-result.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../src/core/pipeline/profile/resolve.ts'
import { anySaving } from '../../../support/any-saving.ts'
import { localContext } from '../../../support/local-context.ts'
import { functionLines } from '../../../support/source-code.ts'

const LINES = Array.from(
  { length: 200 },
  (_, i) => `12:${String(i % 60).padStart(2, '0')}:07 INFO request ${i * 7919} took ${i % 9} ms`,
)
LINES[120] = '12:00:07 ERROR disk is full'
const LOG = LINES.join('\n')
const local = { ...localContext(), keepsOriginals: true, pipeline: anySaving() }

const encode = (fields: Partial<EncodeRequest>, context = {}) =>
  encodeOperation.run(
    { content: LOG, tool: 'mcp__ci__get_log', ...fields },
    { ...local, ...context },
  )

const pipelineOf = (views: object) => anySaving({ views })
const levelOf = (views: object, query: object) => resolveProfile(pipelineOf(views), query).view

describe('the level of a result', () => {
  const views = { level: 'standard', levels: { get_log: 'compact', mcp__b__get_log: 'full' } }

  it.each([
    [{ tool: 'get_log' }, { level: 'compact' }],
    [{ tool: 'mcp__a__get_log' }, { level: 'compact' }],
    [{ tool: 'mcp__b__get_log' }, { level: 'full' }],
    [{ tool: 'constructor' }, { level: 'standard' }],
    [{}, { level: 'standard' }],
    [{ tool: 'get_log', response_budget: 'full' }, { level: 'full' }],
    [
      { tool: 'get_log', response_budget: 700 },
      { level: 'full', tokens: 700 },
    ],
  ])('of %j is %j', (query, level) => expect(levelOf(views, query)).toMatchObject(level))

  it('is full if nothing names one', () => {
    expect(levelOf({}, { tool: 'get_log' })).toEqual({ level: 'full', views: [] })
    expect(encode({}).answer).toEqual(encode({ response_budget: 'full' }).answer)
    expect(encode({}).answer).not.toHaveProperty('response_level')
  })
})

describe('level compact', () => {
  it('leaves out the bulk, with a marker, and names the level', () => {
    const { answer, keep } = encode({ response_budget: 'compact' })
    expect(answer).toMatchObject({ lossless: false, response_level: 'compact' })
    expect(answer.content).toContain('ERROR disk is full')
    expect(answer.content).toContain(`hash=${answer.elided[0]?.hash}`)
    expect(Buffer.from(keep?.[0]?.bytes ?? []).toString()).toBe(LOG)
    expect(answer.content).toBe(encode({ mode: 'elide' }).answer.content)
  })

  it.each([
    ['an error', { is_error: true }, {}],
    ['a fetched original', { tool: 'mcp__haversack__haversack_retrieve' }, {}],
    ['a result whose original cannot be kept', {}, { keepsOriginals: false }],
    ['a request that trims', { mode: 'trim', budget_tokens: 100_000 }, {}],
    ['a request with a budget of its own', { mode: 'elide', budget_tokens: 100_000 }, {}],
  ] as const)('does not concern %s', (_, fields, context) => {
    const { answer } = encode({ response_budget: 'compact', ...fields }, context)
    expect(answer.lossless).toBe(true)
    expect(answer).not.toHaveProperty('response_level')
  })

  it('comes from the header or the configuration, and the field decides', () => {
    const terms = { redeems: false, bypass: false, responseBudget: 'compact' } as const
    expect(encode({}, { terms }).answer.response_level).toBe('compact')
    expect(encode({ response_budget: 'full' }, { terms }).answer.lossless).toBe(true)
    const pipeline = pipelineOf({ levels: { get_log: 'compact' } })
    expect(encode({}, { pipeline }).answer.response_level).toBe('compact')
    expect(encode({ response_budget: 'full' }, { pipeline }).answer.lossless).toBe(true)
  })

  describe('of source code', () => {
    const CODE = [...functionLines(40), ''].join('\n')
    const wrapped = JSON.stringify({ content: [{ type: 'text', text: CODE }] })

    it.each([
      ['bare', CODE],
      ['in a string', wrapped],
    ])('is an outline, %s, as in mode elide', (_, content) => {
      const outline = encode({ content, response_budget: 'compact' })
      const elided = encode({ content, mode: 'elide' }).answer
      expect(outline.answer.content).toContain('step17(input')
      expect(outline.answer.content).not.toContain('found.isEmpty')
      expect(elided.content).toBe(outline.answer.content)
      expect(Buffer.from(outline.keep?.[0]?.bytes ?? []).toString()).toBe(content)
    })
  })
})

describe('the least that leaving out saves', () => {
  const bounded = (least: number, views = {}) => ({
    pipeline: anySaving({
      endpoint_overrides: { '*': { elision_min_saved_tokens: least } },
      views,
    }),
  })
  const lossless = encode({}).answer.tokens.final
  const saved = lossless - encode({ mode: 'elide' }).answer.tokens.final

  it.each([
    ['mode elide', { mode: 'elide' }, {}],
    ['a level', {}, { level: 'compact' }],
    ['pressure', { context_tokens: 2 }, { pressure: [{ from_tokens: 1, level: 'compact' }] }],
  ] as const)('holds for %s, and a request may name its own', (_, fields, views) => {
    const at = (least: number, more: Partial<EncodeRequest> = {}) =>
      encode({ ...fields, ...more }, bounded(least, views)).answer.lossless
    expect(at(saved)).toBe(false)
    expect(at(saved + 1)).toBe(true)
    expect(at(saved + 1, { min_saved_tokens: saved })).toBe(false)
    expect(at(0, { min_saved_tokens: saved + 1 })).toBe(true)
  })

  it('is 6,000 tokens, and 8,000 for items of lists, unless a number is configured', () => {
    const elided = (content: string) => {
      const pipeline = pipelineSchema.parse({})
      const { answer } = encode({ content, mode: 'elide' }, { pipeline })
      const all = encode({ content, mode: 'elide' }).answer.tokens.final
      const saved = encode({ content }).answer.tokens.final - all
      return [saved > 6_000, saved > 8_000, answer.lossless]
    }
    const log = (count: number) => LINES.concat(Array(count).fill(LINES).flat()).join('\n')
    const list = (count: number) =>
      JSON.stringify(Array.from({ length: count }, (_, id) => ({ id, at: `${id * 7919} m` })))
    expect(elided(log(0))).toEqual([false, false, true])
    expect(elided(log(8))).toEqual([true, true, false])
    expect(elided(list(1_150))).toEqual([true, false, true])
    expect(elided(list(2_000))).toEqual([true, true, false])
  })

  it('comes after a wish of the host, and after a budget', () => {
    const context = bounded(1_000_000)
    expect(encode({ response_budget: 'compact' }, context).answer.lossless).toBe(false)
    const named = { response_budget: 'compact', min_saved_tokens: 1_000_000 } as const
    expect(encode(named, context).answer.lossless).toBe(true)
    expect(encode({ response_budget: 300 }, context).answer.tokens.final).toBeLessThanOrEqual(300)
    const fields = { mode: 'elide', budget_tokens: 300 } as const
    expect(encode(fields, context).answer.tokens.final).toBeLessThanOrEqual(300)
  })
})

describe('a diff', () => {
  const hunk = (at: number) => {
    const context = Array.from({ length: 8 }, (_, i) => ` const value${at + i} = read(${i * 7919})`)
    const changed = [`-old ${at}`, `+new ${at}`]
    return [`@@ -${at},9 +${at},9 @@`, ...context.toSpliced(4, 0, ...changed)].join('\n')
  }
  const diff = [
    'diff --git a/x.ts b/x.ts',
    '--- a/x.ts',
    '+++ b/x.ts',
    ...Array.from({ length: 30 }, (_, i) => hunk(1 + 20 * i)),
  ].join('\n')

  it('has less context at a level, in any mode', () => {
    const at = (response_budget: 'full' | 'standard' | 'compact') =>
      encode({ content: diff, tool: 'git_diff', response_budget }).answer
    expect(at('full').lossless).toBe(true)
    for (const level of ['standard', 'compact'] as const) {
      expect(at(level)).toMatchObject({ lossless: false, response_level: level })
      expect(at(level).content).toContain('+new 581')
    }
    expect(at('standard').content).toContain('with context 1')
    expect(at('compact').content).toContain('with context 0')
  })

  it('is cut at level standard; other texts are not', () => {
    expect(encode({ response_budget: 'standard' }).answer.lossless).toBe(true)
  })
})

describe('a wish for tokens', () => {
  const whole = encode({}).answer.tokens.final
  const compact = encode({ response_budget: 'compact' }).answer.tokens.final

  it.each([
    ['what takes all of it', whole, true],
    ['what the compact level takes', compact, false],
    ['less than any level', compact - 100, false],
  ])('is fitted: %s', (_, tokens, lossless) => {
    const { answer } = encode({ response_budget: tokens })
    expect(answer.lossless).toBe(lossless)
    expect(answer.tokens.final).toBeLessThanOrEqual(tokens)
    if (!lossless) expect(answer.response_level).toBe('compact')
  })

  it('is no bound: what cannot fit is as small as it gets', () => {
    const { answer, keep } = encode({ response_budget: 1 })
    expect(answer.tokens.final).toBeLessThan(compact / 4)
    expect(answer).toMatchObject({ lossless: false, response_level: 'compact' })
    expect(answer.content).toContain(`hash=${answer.elided[0]?.hash}`)
    expect(Buffer.from(keep?.[0]?.bytes ?? []).toString()).toBe(LOG)
    expect(encode({ response_budget: 1, is_error: true }).answer.lossless).toBe(true)
  })

  it.each([
    ['a table', JSON.stringify(LINES.map((line, at) => ({ at, line })))],
    ['an object', JSON.stringify({ a: LOG, b: { c: LINES.slice(0, 50) }, d: 1 })],
    ['a list of names', LINES.map((_, at) => `src/part-${at * 7919}/file-${at}.ts`).join('\n')],
    ['a text of one line', 'every word of it '.repeat(200)],
    ['a string of JSON', JSON.stringify('every word of it '.repeat(200))],
    ['empty lines', '\n'.repeat(3_000)],
  ])('makes %s as small as its budget may be', (_, content) => {
    const wish = (response_budget: number) => encode({ content, response_budget })
    const least = wish(1).answer
    const { tokens } = encode({ content }).answer
    expect(least.tokens.final).toBeLessThanOrEqual(tokens.final)
    const fewest = (() => {
      try {
        return encode({ content, mode: 'elide', budget_tokens: 1 }).answer.tokens.final
      } catch (error) {
        return (error as AppError).extras.minimum_tokens
      }
    })()
    expect(least.tokens.final).toBe(fewest)
    expect(wish(2).answer.content).toBe(least.content)
    if (least.lossless) return
    const [kept] = wish(1).keep ?? []
    expect(Buffer.from(kept?.bytes ?? []).toString()).toBe(content)
  })

  it('leaves a result whole that a marker would make no smaller', () => {
    const { answer } = encode({ content: 'done\nand well', response_budget: 1 })
    expect(answer).toMatchObject({ lossless: true, content: 'done\nand well' })
    expect(answer).not.toHaveProperty('response_level')
  })
})

describe('conversations and tools', () => {
  const messages = [
    { role: 'user', content: LOG },
    { role: 'tool', tool_call_id: 'a', content: LOG },
  ]
  const compress = (redeems: boolean, fields = {}, context = {}) =>
    compressMessages(
      { messages, ...fields },
      { ...local, ...context, terms: { redeems, bypass: false } },
    ).payloads.map(({ rewritten }) => rewritten?.answer.response_level)

  it('have a level only if their reader can follow a marker', () => {
    expect(compress(true, { response_budget: 'compact' })).toEqual([undefined, 'compact'])
    expect(compress(false, { response_budget: 'compact' })).toEqual([undefined, undefined])
    const pipeline = pipelineOf({ level: 'compact' })
    expect(compress(true, {}, { pipeline })).toEqual([undefined, undefined])
  })

  it('of MCP have the level of the terms', () => {
    const text = JSON.stringify({ content: [{ type: 'text', text: LOG }] })
    const pack = (response_budget: 'full' | 'compact') => {
      const result = { tool: 'mcp__ci__get_log', mode: 'lossless', structured: 'keep' } as const
      const terms = { redeems: true, bypass: false, result: { ...result, response_budget } }
      return packResultOperation.run(Buffer.from(text), { ...local, terms }).keep.length
    }
    expect([pack('full'), pack('compact')]).toEqual([0, 1])
  })
})

describe('the tokens that results of a tool may have', () => {
  const limited = (max_result_tokens: number, views: object = {}) => ({
    pipeline: pipelineSchema.parse({
      views,
      endpoint_overrides: { get_log: { max_result_tokens } },
    }),
  })
  const whole = encode({}).answer.tokens.final
  const compact = encode({ response_budget: 'compact' }).answer.tokens.final

  it('leave a result whole that has no more', () => {
    expect(encode({}, limited(whole)).answer.content).toBe(encode({}).answer.content)
    expect(encode({ tool: 'other' }, limited(1)).answer.lossless).toBe(true)
  })

  it.each([whole - 1, compact, compact - 1, 60])('%i are kept to, with a marker', tokens => {
    const { answer, keep } = encode({}, limited(tokens))
    expect(answer.tokens.final).toBeLessThanOrEqual(tokens)
    expect(answer.content).toBe(encode({ response_budget: tokens }).answer.content)
    expect(answer).toMatchObject({ lossless: false, response_level: 'compact' })
    expect(Buffer.from(keep?.[0]?.bytes ?? []).toString()).toBe(LOG)
  })

  it('hold beside a level, and not for requests that name one', () => {
    const atLevel = encode({}, limited(whole, { level: 'compact' })).answer
    expect(atLevel.content).toBe(encode({ response_budget: 'compact' }).answer.content)
    const below = encode({}, limited(60, { level: 'compact' })).answer
    expect(below.tokens.final).toBeLessThanOrEqual(60)
    for (const wish of ['full', 'compact', 10_000] as const) {
      const asked = encode({ response_budget: wish }, limited(60)).answer
      expect(asked.content).toBe(encode({ response_budget: wish }).answer.content)
    }
  })

  it.each([
    ['an error', { is_error: true }, {}],
    ['a result whose original cannot be kept', {}, { keepsOriginals: false }],
    ['a request with a budget of its own', { mode: 'elide', budget_tokens: 100_000 }, {}],
  ] as const)('do not concern %s', (_, fields, context) => {
    expect(encode(fields, { ...limited(60), ...context }).answer.lossless).toBe(true)
  })
})
