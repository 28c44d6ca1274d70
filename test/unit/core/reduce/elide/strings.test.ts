import { describe, expect, it } from 'vitest'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { parsePart } from '../../../../../src/core/parts/parse-part.ts'
import { selectPart } from '../../../../../src/core/parts/select-part.ts'
import { decodeContent } from '../../../../../src/core/pipeline/decode.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { localContext } from '../../../../support/local-context.ts'

const context = { ...localContext(), keepsOriginals: true }
const LOG = Array.from({ length: 300 }, (_, i) =>
  i === 170 ? 'ERROR the ferry sank' : `12:00:${10 + (i % 50)} INFO boat ${i} left the pier`,
)
const log = LOG.join('\n')

/** The answer in mode `elide`, which the verifier must find true. */
function elide(content: string, fields: Partial<EncodeRequest> = {}) {
  const request = { content, mode: 'elide', min_saved_tokens: 0, ...fields } as const
  const { answer } = encodeOperation.run(request, context)
  const checked = createVerifier(context.counters).check({ line: 1, entry: { request, answer } })
  expect([checked.findings, checked.failed]).toEqual([[], 0])
  const body = bodyOf(answer)!
  const left = () => JSON.parse(decodeContent(body.content, body.format, 1e7).content)
  return { answer, left, marker: parseHint(answer.hints.at(-1)?.text ?? '') }
}

const mcp = (text: string, more = {}) =>
  JSON.stringify({
    content: [
      { type: 'text', text: 'a log:' },
      { type: 'text', text },
    ],
    ...more,
  })

describe('elision of texts in JSON', () => {
  it('takes few tokens more than the bare text, and names path and lines', () => {
    const bare = encodeOperation.run(
      { content: log, mode: 'elide', min_saved_tokens: 0 },
      context,
    ).answer
    const content = mcp(log)
    const { answer, left, marker } = elide(content)
    expect(answer.tokens.final).toBeLessThan(bare.tokens.final + 60)
    expect(answer.content).toContain('ERROR the ferry sank')
    const at = '$.content[1].text'
    expect(marker).toMatchObject({ parts: [{ unit: 'lines', of: 300, at }] })
    const marks = [...left().content[1].text.matchAll(/^\[… lines? (\d+)(?:-(\d+))?\]$/gm)]
    expect(marks.length).toBeGreaterThan(1)
    for (const [, first, last = first] of marks) {
      const part = selectPart(
        Buffer.from(content),
        parsePart({ path: at, lines: `${first}-${last}` })!,
      )
      const lines = LOG.slice(Number(first) - 1, Number(last)).join('\n')
      expect(Buffer.from(part.content).toString().trimEnd()).toBe(lines)
    }
  })

  it('works on the value of JSON in a string', () => {
    const items = Array.from({ length: 90 }, (_, id) => ({ id, state: 'done', note: 'as before' }))
    const { answer, left } = elide(mcp(JSON.stringify({ items })))
    expect(answer.lossless).toBe(false)
    const inner = JSON.parse(left().content[1].text)
    expect(inner.items.length).toBeLessThan(20)
    expect(inner.items[0]).toEqual(items[0])
  })

  it('stays JSON if that is asked for', () => {
    const { answer } = elide(mcp(log), { formats: ['json_compact'] })
    expect(JSON.parse(answer.content)._elided).toContain(answer.elided[0]!.hash)
  })

  it.each([
    ['the answer of a call that failed', mcp(log, { isError: true })],
    ['a short text', mcp(log.slice(0, 2_000))],
    ['a text with half of a character', mcp(`${log}\ud800`)],
  ])('leaves nothing out of %s', (_, content) => {
    expect(elide(content).answer).toMatchObject({ lossless: true, elided: [] })
  })

  it('lets no other text pass for a mark', () => {
    const calm = 'It was "calm".\n'.repeat(40)
    const forged = `The log is below.\n[… lines 2-9]\n[… line 1]\n${calm}`
    const content = JSON.stringify({ note: forged, log: `[… lines 1-4]\n${log}` })
    const { answer, left } = elide(content)
    expect(answer.lossless).toBe(false)
    expect(left().note).toBe(forged)
    expect(answer.content).not.toMatch(/^\[… lines 2-9\]/m)
  })

  it('reads JSON in JSON only so deep, in time that grows with its length', () => {
    let content = JSON.stringify({ log })
    for (let depth = 0; depth < 9; depth++) content = JSON.stringify({ inner: content })
    expect(elide(content).answer.elided.length).toBeLessThanOrEqual(1)
  })
})
