import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSpacing, writeSpacedJson } from '../../../../src/core/formats/text/json-spacing.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { anyText } from '../../../support/any-text.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { arbitraryEdit } from './arbitrary-value.ts'

const RUNS = fewRuns(3_000, 60)

/** How a program prints JSON that fits into a line, as Prettier does. */
interface Printer {
  readonly unit: string
  readonly lineEnd: string
  readonly width: number
  /** In brackets that are on one line. */
  readonly padding: '' | ' '
  readonly colon: ':' | ': ' | ' : '
  readonly comma: ',' | ', '
  /** Objects take several lines, whatever their width. */
  readonly breaksObjects: boolean
  /** Lists are on one line, whatever is in them. */
  readonly hugs: boolean
}

const printer: fc.Arbitrary<Printer> = fc.record({
  unit: fc.constantFrom('', ' ', '  ', '    ', '        ', '\t'),
  lineEnd: fc.constantFrom('\n', '\r\n'),
  width: fc.constantFrom(10, 20, 40, 80, 120),
  padding: fc.constantFrom('', ' '),
  colon: fc.constantFrom(':', ': ', ' : '),
  comma: fc.constantFrom(',', ', '),
  breaksObjects: fc.boolean(),
  hugs: fc.boolean(),
})

const { value: json } = fc.letrec(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.oneof(fc.constantFrom(null, true, 0, -1.5, 'a', 'é', '<b>', '\n'), fc.string()),
    fc.array(tie('value'), { maxLength: 9, size: 'max' }),
    fc.dictionary(fc.constantFrom('a', 'b', 'name', 'files', 'é"'), tie('value'), {
      maxKeys: 5,
      size: 'max',
    }),
  ),
}))

function members(value: unknown): readonly [string | null, unknown][] | undefined {
  if (Array.isArray(value)) return value.map(item => [null, item])
  return typeof value === 'object' && value !== null ? Object.entries(value) : undefined
}

/**
 * @param breaks whether a container takes several lines although it need not, asked in the order of
 * the text
 */
function print(root: unknown, options: Printer, breaks: () => boolean = () => false): string {
  const { unit, lineEnd, width, padding, colon, comma, breaksObjects, hugs } = options
  const mustBreak = new Set<unknown>()
  const look = (value: unknown): boolean => {
    const all = members(value)
    if (all === undefined || all.length === 0) return false
    const isList = Array.isArray(value)
    const own = isList ? !hugs && breaks() : breaksObjects || breaks()
    const inner = all.map(([, member]) => look(member)).includes(true)
    if (own || (inner && !(isList && hugs))) mustBreak.add(value)
    return own || inner
  }
  look(root)
  const flat = (value: unknown): string => {
    const all = members(value)
    if (all === undefined) return JSON.stringify(value)
    const [open, close] = Array.isArray(value) ? '[]' : '{}'
    if (all.length === 0) return `${open}${close}`
    const parts = all.map(([key, member]) => keyText(key) + flat(member))
    return `${open}${padding}${parts.join(comma)}${padding}${close}`
  }
  const keyText = (key: string | null) => (key === null ? '' : JSON.stringify(key) + colon)
  let out = ''
  const column = () => out.length - (out.lastIndexOf('\n') + 1)
  const put = (value: unknown, level: number, after: string) => {
    const all = members(value)
    const isHugged = Array.isArray(value) && hugs
    const line = flat(value)
    const fits = !mustBreak.has(value) && column() + line.length + after.length <= width
    if (all === undefined || all.length === 0 || (fits && !isHugged)) {
      out += line + after
      return
    }
    const inner = level + (isHugged ? 0 : 1)
    const breakTo = (to: number) => lineEnd + unit.repeat(to)
    out += (Array.isArray(value) ? '[' : '{') + (isHugged ? padding : breakTo(inner))
    for (const [at, [key, member]] of all.entries()) {
      out += keyText(key)
      const isLast = at === all.length - 1
      put(member, inner, isLast ? '' : ',')
      if (!isLast) out += isHugged ? comma.slice(1) : breakTo(inner)
    }
    out += (isHugged ? padding : breakTo(level)) + (Array.isArray(value) ? ']' : '}') + after
  }
  put(root, 0, '')
  return out
}

const container = json.filter(value => typeof value === 'object' && value !== null)

/** The word of a text's spacing, from which the text must come back. */
function wordOf(text: string): string | undefined {
  const parsed = parseJson(text, { maxDepth: 250 })
  if (!parsed.ok) return undefined
  const word = findSpacing(text, parsed.value)
  if (word === undefined) return undefined
  expect(writeSpacedJson(parsed.value, word, text.length)).toBe(text)
  expect(word).toMatch(/^[\w-]{1,340}$/)
  return word
}

describe('the spacing of JSON', () => {
  it('is found for all that a printer writes by a rule', () => {
    fc.assert(
      fc.property(container, printer, (value, options) => {
        expect(wordOf(print(value, options))).toBeDefined()
      }),
      { numRuns: RUNS },
    )
  })

  it('gives back what a printer writes that leaves some objects as they were', () => {
    let found = 0
    const bits = fc.infiniteStream(fc.boolean())
    fc.assert(
      fc.property(container, printer, bits, (value, options, stream) => {
        const text = print(value, options, () => stream.next().value)
        if (wordOf(text) !== undefined) found++
      }),
      { numRuns: RUNS },
    )
    expect(found).toBeGreaterThanOrEqual(leastHits(RUNS * 0.97))
  })

  it('gives back what JSON.stringify writes, with line ends after it', () => {
    const indents = fc.constantFrom('', '\t', ...Array.from({ length: 8 }, (_, at) => at + 1))
    fc.assert(
      fc.property(container, indents, fc.constantFrom('', '\n', '\r\n'), (value, indent, end) => {
        expect(wordOf(JSON.stringify(value, null, indent) + end)).toMatch(
          /^(?:endedr?_)?(?:compact|indent\d|tab)$/,
        )
      }),
      { numRuns: RUNS },
    )
  })

  it('gives back what any encoder escapes', () => {
    const names = ['', '-ascii', '-html', '-gson', '-net', '-upper', '-php', '-slash']
    const char = fc.oneof(anyText({ maxLength: 2 }), fc.constantFrom(...'/"\\u<&\'é'))
    const text = fc.array(char, { maxLength: 6 }).map(chars => chars.join('').toWellFormed())
    fc.assert(
      fc.property(fc.array(text, { minLength: 1 }), fc.constantFrom(...names), (value, name) => {
        const written = writeSpacedJson(value, `indent2${name}`, 10_000)!
        expect(JSON.parse(written)).toEqual(value)
        expect(wordOf(written)).toBeDefined()
      }),
      { numRuns: RUNS },
    )
  })

  it('gives back altered text, or is none', () => {
    const gap = fc.constantFrom(' ', '\n', '\r', '\t', '\n\n', '  ', '')
    let read = 0
    fc.assert(
      fc.property(
        container,
        printer,
        fc.array(fc.tuple(fc.nat(), fc.nat(3), gap), { minLength: 1, maxLength: 3 }),
        fc.array(arbitraryEdit, { maxLength: 1 }),
        (value, options, gaps, edits) => {
          let text = print(value, options)
          for (const [place, removed, gap] of gaps) {
            const at = place % (text.length + 1)
            text = text.slice(0, at) + gap + text.slice(at + removed)
          }
          text = edits.reduce((edited, edit) => edit(edited), text)
          if (/^[[{]/.test(text) && wordOf(text) !== undefined) read++
        },
      ),
      { numRuns: RUNS },
    )
    expect(read).toBeGreaterThanOrEqual(leastHits(RUNS * 0.02))
  })

  it('reads any word as a spacing, or says that it cannot', () => {
    const parts = fc.constantFrom(
      ...['layout2', 'layoutt', 'r', '-', '0', 'nnn', '010', 'nnn1', '1111', 'w', '80', 'x', 'k'],
      ...['A', 'B', '3', 'b1_2', 'ascii', 'html', 'ended_', 'indent2', 'compact'],
    )
    const word = fc.array(parts, { maxLength: 12 }).map(all => all.join(''))
    fc.assert(
      fc.property(container, word, (value, word) => {
        const text = JSON.stringify(value)
        const parsed = parseJson(text)
        if (!parsed.ok) throw new Error('no JSON')
        const written = writeSpacedJson(parsed.value, word, 10_000)
        if (written !== undefined) expect(JSON.parse(written)).toEqual(JSON.parse(text))
      }),
      { numRuns: RUNS },
    )
  })
})
