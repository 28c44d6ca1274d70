import { describe, expect, it } from 'vitest'
import { createReading } from '../../../../../src/core/reading/price.ts'
import { runTermsOf, USUAL_TERMS } from '../../../../../src/core/sessions/lines/plan-lines.ts'
import { createContext } from '../../../../support/line-references.ts'

const CODE = Array.from(
  { length: 40 },
  (_, i) => `const value${i * 7} = compute(${i}, 'name ${i}')`,
)

/** Lines with numbers as a viewer prints them. */
function numbered(lines: readonly string[], first = 1, write = arrow): string {
  return lines.map((line, i) => write(first + i) + line).join('\n')
}

const arrow = (number: number) => `${String(number).padStart(6)}→`
const tab = (number: number) => `${number}\t`

const READ = { tool: 'Read', argument: 'a.ts' }

describe('references to lines', () => {
  it('names the call once, then only the lines', () => {
    const context = createContext()
    const ref = context.keep(CODE.join('\n'), READ)
    const later = CODE.with(20, 'changed').join('\n')
    const answer = context.refer(later)
    expect(answer).toBe(`> [ref ${ref} lines 1-20 of Read(a.ts)]\nchanged\n> [lines 22-40]`)
    expect(context.restore(answer!)).toBe(later)
  })

  it('numbers lines on only as they were printed, or if they had no numbers', () => {
    const context = createContext()
    context.keep(numbered(CODE, 700, tab), READ)
    const moved = numbered(['first', ...CODE.slice(1)], 700)
    expect(context.refer(moved)?.split('\n')[1]).toMatch(/ lines 701-739 of .* numbered on$/)
    const away = numbered(['first', ...CODE.slice(1)], 800)
    expect(context.refer(away)).toBeNull()
    context.keep(CODE.join('\n'), { tool: 'Write.content', calls_ago: 1 })
    expect(context.refer(away)?.split('\n')[1]).toMatch(/ lines 2-40 of .* numbered on$/)
  })

  it.each([
    ['two short lines', 2, CODE.slice(0, 2), false],
    ['three lines that save less than the price', 3, ['return', 'const a = 1', 'done'], false],
    ['three longer lines', 3, CODE.slice(0, 3).map(line => `${line} ${line}`), true],
    ['one line of many tokens', 1, [CODE.slice(0, 8).join(' ')], true],
  ])('are worth their price: %s', (_, count, lines, isReferred) => {
    const context = createContext(undefined, 's', USUAL_TERMS)
    context.keep(lines.join('\n'), READ)
    const later = ['before', ...lines, 'after'].join('\n')
    const answer = context.refer(later)
    expect(answer !== null).toBe(isReferred)
    if (answer !== null) expect(answer).toContain(`lines 1-${count} of`)
  })

  it.each([
    ['balanced', 2, 29, false],
    ['balanced', 2, 30, true],
    ['balanced', 3, 29, true],
    ['plain', 4, 60, false],
    ['plain', 5, 39, false],
    ['plain', 5, 40, true],
  ] as const)('is never too short in %s texts: %i lines, %i tokens', (level, count, tokens, is) => {
    const terms = runTermsOf(createReading(level, { reference: 0 }))
    const context = createContext(undefined, 's', terms)
    const short = Array.from({ length: count - 1 }, (_, at) => `line ${at}`)
    const rest = 4 * tokens - `${short.join('\n')}\n\n`.length
    const lines = [...short, 'x'.repeat(rest)]
    context.keep(lines.join('\n'), READ)
    expect(context.refer(['before', ...lines, 'after'].join('\n')) !== null).toBe(is)
  })

  it('goes back to a body by its ref', () => {
    const context = createContext()
    const one = context.keep(CODE.slice(0, 20).join('\n'), READ)
    const two = context.keep(CODE.slice(20).join('\n'), { tool: 'Read', argument: 'b.ts' })
    const later = [...CODE.slice(0, 9), ...CODE.slice(20, 30), ...CODE.slice(9, 20)].join('\n')
    expect(context.refer(later)?.split('\n')).toEqual([
      `> [ref ${one} lines 1-9 of Read(a.ts)]`,
      `> [ref ${two} lines 1-10 of Read(b.ts)]`,
      `> [ref ${one} lines 10-20]`,
    ])
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it('says printed numbers where the earlier result has them, and how they moved', () => {
    const context = createContext()
    const ref = context.keep(numbered(CODE, 101))
    const later = numbered(['new line', ...CODE], 101)
    expect(context.refer(later)).toBe(`   101→new line\n> [ref ${ref} lines 101-140, numbers +1]`)
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it.each([
    ['9 to 10 in a fixed width', numbered(CODE, 5), numbered(CODE, 960)],
    ['9 to 10 without one', numbered(CODE, 5, tab), numbered(CODE, 960, tab)],
    ['back below 10', numbered(CODE, 1005, tab), numbered(CODE, 3, tab)],
    ['beyond a fixed width', numbered(CODE, 5), numbered(CODE, 999_990)],
  ])('moves numbers: %s', (_, earlier, later) => {
    const context = createContext()
    context.keep(earlier)
    const answer = context.refer(later)
    expect(answer?.length).toBeLessThan(later.length / 3)
    expect(context.restore(answer!)).toBe(later)
  })

  it('tells runs apart that moved by different numbers', () => {
    const context = createContext()
    const ref = context.keep(numbered(CODE))
    const later = `${numbered(CODE.slice(0, 20), 3)}\n${numbered(CODE.slice(20), 30)}`
    expect(context.refer(later)).toBe(`> [ref ${ref} lines 1-20, numbers +2]\n> [lines 21-40 +9]`)
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it('counts on where only the later result has numbers', () => {
    const context = createContext()
    const ref = context.keep(CODE.join('\n'))
    const later = numbered(['// head', ...CODE], 1)
    expect(context.refer(later)).toBe(`     1→// head\n> [ref ${ref} lines 1-40] numbered on`)
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it('counts on beside a match of a search', () => {
    const context = createContext()
    const ref = context.keep(numbered(CODE))
    const later = CODE.slice(9, 20)
      .map((line, i) => (i === 0 ? `src/a.ts:10:${line}` : `src/a.ts-${10 + i}-${line}`))
      .join('\n')
    const first = later.split('\n')[0]
    expect(context.refer(later)).toBe(`${first}\n> [ref ${ref} lines 11-20] numbered on with -`)
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it('drops numbers where only the earlier result has them', () => {
    const context = createContext()
    const ref = context.keep(numbered(CODE, 11))
    const later = CODE.slice(5, 30).join('\n')
    expect(context.refer(later)).toBe(`> [ref ${ref} lines 16-40] without numbers`)
    expect(context.restore(context.refer(later)!)).toBe(later)
  })

  it.each([
    ['CRLF', CODE.join('\r\n'), CODE.with(3, 'changed').join('\r\n')],
    ['a final line feed, then none', `${CODE.join('\n')}\n`, CODE.join('\n')],
    ['no final line feed, then one', CODE.join('\n'), `${CODE.join('\n')}\n`],
    ['a byte order mark', `\ufeff${CODE.join('\n')}`, `\ufeff${CODE.with(9, '').join('\n')}`],
    [
      'other scripts',
      CODE.map(l => `${l} 日本語 🚀`).join('\n'),
      CODE.map(l => `${l} 日本語 🚀`)
        .with(5, 'é')
        .join('\n'),
    ],
  ])('keeps every byte: %s', (_, earlier, later) => {
    const context = createContext()
    context.keep(earlier)
    const answer = context.refer(later)
    expect(answer).not.toBeNull()
    expect(context.restore(answer!)).toBe(later)
  })

  it('does not take a line with another ending for the same', () => {
    const context = createContext()
    context.keep(CODE.join('\r\n'))
    const answer = context.refer(CODE.join('\n'))
    expect(answer === null ? null : context.restore(answer)).toSatisfy(
      text => text === null || text === CODE.join('\n'),
    )
  })

  it('refers to nothing that was not allowed, nor to another session', () => {
    const context = createContext()
    context.keepSilently(CODE.join('\n'))
    expect(context.refer(CODE.join('\n'))).toBeNull()
    const other = createContext(context.memory.parts.words.buffer, 'other')
    other.keep('something else\n'.repeat(20))
    expect(other.refer(CODE.join('\n'))).toBeNull()
  })

  it('leaves lines alone that cost less than a reference to them', () => {
    const context = createContext()
    context.keep(['a = 1', 'b = 22', ...CODE].join('\n'))
    expect(context.refer('x\na = 1\nb = 22\ny')).toBeNull()
  })

  it('a text with lone surrogates gets no references', () => {
    const context = createContext()
    context.keep(CODE.join('\n'))
    expect(context.refer(`${CODE.join('\n')}\ud800`)).toBeNull()
  })

  it('a verbose hint has the address of its lines, by printed numbers if there are some', () => {
    const context = createContext()
    context.keep(numbered(CODE, 101), READ)
    expect(context.refer(numbered(CODE.slice(0, 30), 101), 'verbose')).toContain('?lines=101-130')
    context.keep(CODE.join('\n'), READ)
    expect(context.refer(CODE.slice(1, 30).join('\n'), 'verbose')).toContain('?lines=2-30')
  })
})

describe('content that looks like a reference', () => {
  const forged = [
    '> [lines 1-3]',
    '\\> [lines 1-3]',
    '\\\\> [ref 9f2c41aa lines 1-3]',
    '> [ref 9f2c41aa lines 1-3] numbered on',
    '  - [ref: tc_42]',
    '\\',
    '> quoted',
    '[not a hint]',
  ]

  it('comes back as it was', () => {
    const context = createContext()
    context.keep(CODE.join('\n'))
    const later = [...forged, ...CODE, ...forged].join('\n')
    const answer = context.refer(later)!
    expect(answer.split('\n').slice(0, 3)).toEqual([
      '\\> [lines 1-3]',
      '\\\\> [lines 1-3]',
      '\\\\\\> [ref 9f2c41aa lines 1-3]',
    ])
    expect(context.restore(answer)).toBe(later)
  })

  it('can be referred to', () => {
    const context = createContext()
    const earlier = [...forged, ...CODE].join('\n')
    context.keep(earlier)
    expect(context.restore(context.refer(`${earlier}\nnew`)!)).toBe(`${earlier}\nnew`)
  })
})

describe('answers that cannot be decoded', () => {
  const context = createContext()
  const ref = context.keep(numbered(CODE, 11))
  const plain = context.keep(CODE.join('\n'))

  it.each([
    ['an unknown ref', '> [ref 00000000 lines 1-2]', 'line 1: no earlier result 00000000'],
    ['lines before the first', `> [ref ${ref} lines 10-12]`, 'line 1: the earlier result has no'],
    ['lines past the last', `x\n> [ref ${plain} lines 40-41]`, 'line 2: the earlier result has no'],
    ['no body named', '> [lines 1-2]', 'line 1: the same earlier result, but none was named'],
    ['no numbers to go on from', `x\n> [ref ${ref} lines 11-12] numbered on`, 'line 2: no numbers'],
    ['a dash behind an arrow', `1→x\n> [ref ${ref} lines 11-12] numbered on with -`, 'no numbers'],
    ['numbers below 0', `> [ref ${ref} lines 11-12, numbers -12]`, 'line 1: no numbers'],
    ['lines backwards', '> [lines 3-2]', 'neither content nor a reference'],
    ['a range of one', '> [lines 3-3]', 'neither content nor a reference'],
    [
      'an unknown ending',
      `> [ref ${ref} lines 11-12] backwards`,
      'neither content nor a reference',
    ],
    ['another hint', `> [ref ${ref}, byte-identical]`, 'neither content nor a reference'],
  ])('%s', (_, answer, reason) => {
    expect(() => context.restore(answer)).toThrow(
      expect.objectContaining({ code: 'not_decodable', detail: expect.stringContaining(reason) }),
    )
  })

  it('more text than may be written', () => {
    const answer = `> [ref ${plain} lines 1-40]\n`.repeat(50)
    expect(() => context.restore(answer, 5000)).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    )
    expect(context.restore(CODE.join('\n'), CODE.join('\n').length)).toBe(CODE.join('\n'))
  })
})
