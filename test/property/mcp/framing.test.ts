import fc from 'fast-check'
import { expect, it } from 'vitest'
import { LineReader } from '../../../src/mcp/upstream/line-reader.ts'
import { SseReader } from '../../../src/mcp/upstream/sse-reader.ts'
import { runs } from '../../support/runs.ts'

const NEVER_FULL = 100_000

/** The bytes in pieces, cut at these offsets. */
function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const at = [0, ...cuts.map(cut => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]
  return at.slice(1).map((end, n) => bytes.subarray(at[n], end))
}

const CUTS = fc.array(fc.nat(), { maxLength: 12 })

it('lines are the same however the stream is cut', () => {
  const stream = fc.array(fc.constantFrom('{"a":1}', 'é', '\n', '\r\n', '', 'x'.repeat(50)))
  fc.assert(
    fc.property(stream, CUTS, (parts, cuts) => {
      const bytes = Buffer.from(parts.join(''))
      const lines: string[] = []
      const reader = new LineReader(NEVER_FULL)
      for (const piece of pieces(bytes, cuts)) reader.push(piece, line => lines.push(`${line}`))
      const whole = parts.join('').split('\n').slice(0, -1)
      expect(lines).toEqual(whole.filter(line => line !== ''))
    }),
    { numRuns: runs(2000) },
  )
})

it('a line is refused exactly if it exceeds its bound, however the stream is cut', () => {
  const line = fc.nat(20).map(length => 'x'.repeat(length))
  fc.assert(
    fc.property(fc.array(line), CUTS, (lines, cuts) => {
      const reader = new LineReader(10)
      const bytes = Buffer.from(lines.join('\n'))
      const pushed = pieces(bytes, cuts).map(piece => reader.push(piece, () => {}))
      expect(pushed.includes(false)).toBe(lines.some(({ length }) => length > 10))
    }),
    { numRuns: runs(2000) },
  )
})

/** The events of a stream, as the standard reads it line by line. */
function readWhole(text: string): (readonly [data: string, lastId: string | null])[] {
  const events: (readonly [string, string | null])[] = []
  let id: string | null = null
  let fields: string[] = []
  for (const line of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .slice(0, -1)) {
    if (line !== '') {
      if (!line.startsWith(':')) fields.push(line)
      continue
    }
    const textOf = (field: string) => field.replace(/^[a-z]+:? ?/, '')
    for (const field of fields) if (/^id(?::|$)/.test(field)) id = textOf(field)
    const data = fields.filter(field => /^data(?::|$)/.test(field)).map(textOf)
    if (fields.length > 0) events.push([data.join('\n'), id])
    fields = []
  }
  return events
}

it('events are what the standard says, however the stream is cut', () => {
  const line = fc.constantFrom('data: {"é":1}', 'data:', 'data', 'id: 7', 'id', ': x', 'a: b', '')
  const end = fc.constantFrom('\n', '\r', '\r\n')
  const lines = fc.array(fc.tuple(line, end).map(parts => parts.join('')))
  fc.assert(
    fc.property(fc.constantFrom('', '\ufeff'), lines, CUTS, (mark, parts, cuts) => {
      const text = `${mark}${parts.join('')}`
      const events: [string, string | null][] = []
      const reader = new SseReader(NEVER_FULL, ({ data, lastId }) =>
        events.push([`${data}`, lastId]),
      )
      for (const piece of pieces(Buffer.from(text), cuts)) reader.push(piece)
      expect(events).toEqual(readWhole(text))
    }),
    { numRuns: runs(2000) },
  )
})
