import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeContent } from '../../../../src/core/pipeline/decode.ts'
import { encodeContent } from '../../../../src/core/pipeline/encode-content.ts'
import { localContext } from '../../../support/local-context.ts'
import { runs } from '../../../support/runs.ts'

const ESCAPES = [
  ...['\\n', '\\t', '\\r', '\\\\', '\\"', "\\'", '\\/', '\\0', '\\x41', '\\u0041', '\\ud83d'],
  ...['\\U0001f600', '\\e[1m', '\\N', '\\_', '%0A', '&#10;', '\u001b[31m', '\u001b[0m', '\0', '\r'],
  ...['"', "'", '""', "''", '`', '\n', '\n\n', '\t', '\ufeff', '\ud800', '×2', '…', '→', '```'],
]
const WORDS = [
  's',
  'name',
  'banner',
  'ab cd',
  '42',
  'null',
  'true',
  '- x',
  '{',
  '}',
  '[1]',
  '#',
  '|',
]
const SIGNS = [':', ': ', '=', ',', ' ', '|', '\t', '  ', '+', '-', '@@ -1,2 +1,2 @@', '> [']

const piece = fc.oneof(
  fc.constantFrom(...ESCAPES),
  fc.constantFrom(...WORDS),
  fc.constantFrom(...SIGNS),
  fc.string({ maxLength: 4 }),
)
const line = fc.array(piece, { maxLength: 8 }).map(parts => parts.join(''))
/** Lines as formats of texts accept them, with escapes at any place. */
const text = fc
  .record({
    prefix: fc.constantFrom('', 'key: ', 'src/some/file.ts:', '2026-01-02 03:04:05 INFO ', '    '),
    mark: fc.constantFrom('', '- ', '"', '+', '| '),
    lines: fc.array(line, { minLength: 1, maxLength: 9 }),
    times: fc.integer({ min: 1, max: 3 }),
    end: fc.constantFrom('', '\n', '\n\n'),
  })
  .map(({ prefix, mark, lines, times, end }) => {
    const block = lines.map((each, i) => `${prefix}${i}${mark}${each}`).join('\n')
    return Array.from({ length: times }, () => block).join('\n') + end
  })
const anything = fc.oneof(
  text,
  fc.json(),
  text.map(each => JSON.stringify({ a: [each], b: each })),
)

const context = localContext()

function roundTrip(content: string): string {
  const { answer } = encodeContent({ content }, context)
  return decodeContent(answer.content, answer.format, 1_000_000).content
}

/** What its answers decode to: JSON as compact JSON, everything else as it came. */
function meaning(content: string): string {
  try {
    const value: unknown = JSON.parse(content)
    return typeof value === 'object' && value !== null ? JSON.stringify(value) : content
  } catch {
    return content
  }
}

describe('texts with escapes', () => {
  it('are encoded without a refusal, and come back', () => {
    fc.assert(
      fc.property(anything, content => {
        const back = roundTrip(content)
        if (back !== content) expect(meaning(back)).toBe(meaning(content))
      }),
      { numRuns: runs(4_000) },
    )
  })

  it.each([
    'name: api\nversion: 2\nbanner: "line one\\\\nline two"\nport: 8080\n',
    's:\nd:\nc: "\\nb"\nb:',
  ])('come back as %j', content => {
    expect(roundTrip(content)).toBe(content)
  })

  it.each(['42\n', '      25', '"\\u0041bc"', '\ttrue', '1e5 ', '-0', ' "a\\/b"'])(
    'stay character for character as the scalar %j',
    content => expect(roundTrip(content)).toBe(content),
  )
})
