import { describe, expect, it } from 'vitest'
import { numberedLines } from '../../../../src/core/formats/gutter/printed-lines.ts'
import { mayBeNumbered } from '../../../../src/core/parts/numbered-lines.ts'
import { parsePart } from '../../../../src/core/parts/parse-part.ts'
import { selectPart } from '../../../../src/core/parts/select-part.ts'

const NUMBERED = Array.from({ length: 40 }, (_, at) => `${String(at + 860).padStart(6)}→line ${at}`)
const TEXT = `${NUMBERED.toSpliced(11, 0, '', 'no number').join('\n')}\n\n<note>\n`

const select = (text: string, lines: string) => {
  const { content, ...where } = selectPart(Buffer.from(text), parsePart({ lines })!)
  return { content: Buffer.from(content).toString(), ...where }
}

describe('lines of a text with printed numbers', () => {
  it('are found by these, with what is between them', () => {
    const { content, ...where } = select(TEXT, '869-872')
    expect(content).toBe(
      [...NUMBERED.slice(9, 11), '', 'no number', ...NUMBERED.slice(11, 13), ''].join('\n'),
    )
    expect(where).toEqual({ kind: 'lines', first: 869, last: 872, total: 44, numbers: 'printed' })
  })

  it.each([
    ['895-', 895, 899],
    ['-3', 897, 899],
    ['50-861', 860, 861],
    ['898-5000', 898, 899],
    ['870', 870, 870],
  ])('%s is %i to %i', (range, first, last) => {
    expect(select(TEXT, range)).toMatchObject({ first, last, numbers: 'printed' })
  })

  it('are counted if none of the numbers is printed, and refused if there are not so many', () => {
    expect(select(TEXT, '2-3')).toEqual({
      kind: 'lines',
      content: `${NUMBERED[1]}\n${NUMBERED[2]}\n`,
      first: 2,
      last: 3,
      total: 44,
    })
    expect(() => select(TEXT, '50-60')).toThrow('the printed numbers 860 to 899')
  })

  it('are counted if most have none, or if they do not rise', () => {
    for (const text of ['a\nb\n3→c\n', '2→a\n1→b\n3→c\n', '1→a\n2:b\n3→c\n']) {
      expect(select(text, '2-3')).toEqual(expect.not.objectContaining({ numbers: 'printed' }))
      expect(select(text, '2-3')).toMatchObject({ first: 2, last: 3 })
    }
  })

  it('are those of the text that a path leads to', () => {
    const body = Buffer.from(JSON.stringify({ text: TEXT }))
    const part = selectPart(body, parsePart({ path: '$.text', lines: '861' })!)
    expect(Buffer.from(part.content).toString()).toBe(`${NUMBERED[1]}\n`)
  })
})

it('the beginning of a large text shows whether it may have numbers', () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\tline ${at}`)
  const prose = Array.from({ length: 20_000 }, (_, at) => `prose ${at}`)
  const texts: readonly (readonly [string[], boolean])[] = [
    [rows, true],
    [prose, false],
    [[...prose, ...rows], false],
    [[...rows, ...prose], true],
    [[...rows, ...rows], false],
  ]
  for (const [lines, isNumbered] of texts) {
    const body = Buffer.from(lines.join('\n'))
    expect(numberedLines(body) !== null).toBe(isNumbered)
    if (isNumbered) expect(mayBeNumbered(body.subarray(0, 1 << 16))).toBe(true)
  }
  expect(mayBeNumbered(Buffer.from(prose.join('\n')).subarray(0, 1 << 16))).toBe(false)
})
