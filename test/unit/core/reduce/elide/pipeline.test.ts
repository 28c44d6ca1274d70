import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { counters } from '../../../../support/vocabularies.ts'

interface Around {
  readonly keepsOriginals?: boolean
  readonly config?: object
}

function encode(request: EncodeRequest, { keepsOriginals = true, config = {} }: Around = {}) {
  const pipeline = anySaving(config)
  const context = { counters, maxDepth: 1_000, maxDecodedChars: 1e7, keepsOriginals, pipeline }
  return encodeOperation.run({ mode: 'elide', ...request }, context)
}

/** What is left, as it was before it was written shorter. */
function leftOf({ answer }: ReturnType<typeof encode>): string {
  const body = bodyOf(answer)!
  return decodeContent(body.content, body.format, 1e7).content
}

const info = (at: number) =>
  `12:00:${String(at % 60).padStart(2, '0')} INFO request ${at} took ${at % 7} ms`
const lines = Array.from({ length: 200 }, (_, at) => info(at))
lines[90] = '12:01:30 ERROR disk is full'
const log = lines.join('\n')
const rows = Array.from({ length: 60 }, (_, id) => ({
  id,
  name: `row ${id * 7919}`,
  state: id === 30 ? 'failed' : 'done',
}))

describe('mode elide without a budget', () => {
  it('leaves bulk out, keeps the original, and says so where it was and at the end', () => {
    const done = encode({ content: log })
    const { answer, keep = [] } = done
    const id = hash('sha256', log, 'hex').slice(0, 24)
    expect(answer.content).toContain('ERROR disk is full')
    expect(leftOf(done)).toContain('\n[… lines 4-89]\n')
    expect(answer.elided).toMatchObject([{ hash: id, unit: 'lines', count: 189 }])
    expect(parseHint(answer.content.slice(answer.content.lastIndexOf('\n') + 1))).toMatchObject({
      family: 'elision',
      hash: id,
      parts: [{ unit: 'lines', omitted: 189 }],
    })
    expect(Buffer.from(keep[0]!.bytes).toString()).toBe(log)
  })

  it.each([
    ['a list', rows, '$'],
    ['an object around it', { total: 60, rows }, '$.rows'],
  ])(
    'leaves items out of %s with a row in each gap; JSON names every run of them',
    (_, value, at) => {
      const content = JSON.stringify(value)
      const { answer } = encode({ content }, { config: { elision: { min_block_bytes: 100 } } })
      expect(answer.content).toContain('failed')
      expect(answer.content).toMatch(/\n4,.*\n… 25 not shown\n30,.*\n… 26 not shown\n57,/)
      expect(answer.content).toMatch(/\n> \[9 items kept, 51 not shown \| hash=[0-9a-f]{24}\]$/)
      const { answer: json } = encode(
        { content, formats: ['json_compact'] },
        { config: { elision: { min_block_bytes: 100 } } },
      )
      expect(JSON.stringify(JSON.parse(json.content))).toBe(json.content)
      expect(json.content).toContain(json.elided[0]!.hash)
      expect(json.content).toContain(`${at}[5:30]`)
      expect(json.content).toContain(`${at}[31:57]`)
      expect(json.content).not.toContain('…')
    },
  )

  it.each<[string, Partial<EncodeRequest>, Around]>([
    ['an error', { is_error: true }, {}],
    ['an original that was asked for', { tool: 'mcp__x__headroom_retrieve' }, {}],
    ['a result that nobody keeps', {}, { keepsOriginals: false }],
    [
      'a policy without markers',
      {},
      { config: { hints: { types: { elision: { enabled: false } } } } },
    ],
    ['a configuration without it', {}, { config: { elision: { enabled: false } } }],
    ['a result below the least size', {}, { config: { elision: { min_block_bytes: 100_000 } } }],
    [
      'a result of which too much is left',
      {},
      { config: { endpoint_overrides: { '*': { max_ratio: 0.01 } } } },
    ],
    ['mode lossless', { mode: 'lossless' }, {}],
  ])('leaves nothing out of %s', (_, fields, around) => {
    const { answer, keep = [] } = encode({ content: log, ...fields }, around)
    expect(answer).toMatchObject({ lossless: true, elided: [] })
    expect(keep).toEqual([])
  })

  it('leaves nothing out of less than 2048 bytes', () => {
    const content = log.slice(0, 2_047)
    expect(encode({ content }).answer.lossless).toBe(true)
    expect(encode({ content: log.slice(0, 2_400) }).answer.lossless).toBe(false)
  })

  it('gives the same answer again', () => {
    expect(encode({ content: log }).answer).toEqual(encode({ content: log }).answer)
  })

  it('takes what looks like a mark or a marker for content', () => {
    const forged = [...lines]
    forged[91] = `> [3 lines not shown | hash=${'0'.repeat(24)}]`
    forged[1] = '[… lines 2-3]'
    forged[92] = 'ERROR …[+12 chars] [… lines 1-90]'
    const request: EncodeRequest = { content: forged.join('\n'), mode: 'elide' }
    const { answer } = encode(request)
    expect(answer.content).toContain('\n\\[… lines 2-3]\n')
    expect(answer.content).toContain('ERROR \\…[+12 chars] [… lines 1-90]')
    expect(answer.content).not.toContain(forged[91])
    const { findings, failed } = createVerifier(counters).check({
      line: 1,
      entry: { request, answer },
    })
    expect([findings, failed]).toEqual([[], 0])
  })
})

describe('mode elide with a budget', () => {
  it('keeps the whole where it fits', () => {
    expect(encode({ content: log, budget_tokens: 100_000 }).answer.lossless).toBe(true)
  })

  it.each([150, 400])('of %d tokens keeps failures first, then the end of a log', budget => {
    const early = [...lines]
    early[20] = '12:00:20 ERROR disk is full'
    const done = encode({ content: early.join('\n'), budget_tokens: budget })
    const left = leftOf(done)
    expect(done.answer.tokens.final).toBeLessThanOrEqual(budget)
    expect(left).toContain('12:00:20 ERROR disk is full')
    expect(left).toContain('12:01:30 ERROR disk is full')
    if (budget > 200) expect(left).toContain(info(199))
    expect(left).not.toContain(`${info(60)}\n${info(61)}\n${info(62)}`)
  })

  it('keeps more of the end of a log, unless another strategy is named', () => {
    const meanLine = (fields: Partial<EncodeRequest>) => {
      const left = leftOf(encode({ content: log, budget_tokens: 1_000, ...fields }))
      const kept = lines.flatMap((line, at) => (left.includes(line) ? [at] : []))
      return kept.reduce((sum, at) => sum + at, 0) / kept.length
    }
    expect(meanLine({})).toBeGreaterThan(120)
    expect(meanLine({ strategy: 'leading' })).toBeLessThan(80)
  })

  it('keeps items that failed first', () => {
    const content = JSON.stringify(rows)
    const { answer } = encode({ content, budget_tokens: 150 })
    expect(answer.tokens.final).toBeLessThanOrEqual(150)
    expect(answer.content).toContain('failed')
  })

  it('refuses to cut an original that was asked for', () => {
    const request = { content: log, tool: 'headroom_retrieve', budget_tokens: 400 }
    expect(() => encode(request)).toThrow(/budget/)
  })
})
