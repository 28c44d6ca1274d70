import { describe, expect, it } from 'vitest'
import { numbered } from '../../../../src/core/formats/text/numbered.ts'
import type { TextTools } from '../../../../src/core/formats/text/text-format.ts'
import { lengthCounter } from '../../../support/length-counter.ts'

const tools: TextTools = { counter: lengthCounter(1), formats: [] }

describe('a numbered text is restored only if every character is equal', () => {
  it.each([
    ['padded, with an end', '   8→a\n   9→b\n  10→\n  11→d\nrest\n\n'],
    ['over the width of its numbers', ' 98\ta\n 99\tb\n100\tc\n1000\td'],
    ['a block at the end', 'head\n1:a\n2:b\n3:c'],
    ['two blocks', '1→a\n2→b\n3→c\n7→d\n8→e\n9→f\n'],
    ['a block that ends with the text', '4\ta\n5\tb\n6\tc\n7\td'],
  ])('%s', (_, text) => {
    const all = numbered.encode(text, tools)
    expect(all).toHaveLength(1)
    const { content, style } = all[0]!
    const restores = (other: string) => numbered.restores!(content, style, text.length, other)
    expect(numbered.decode(content, style, text.length)).toBe(text)
    expect(restores(text)).toBe(true)
    for (let at = 0; at <= text.length; at++) {
      const [before, after] = [text.slice(0, at), text.slice(at + 1)]
      const others = [`${before}${after}`, `${before}x${after}`, `${before} ${text.slice(at)}`]
      for (const other of others) if (other !== text) expect(restores(other)).toBe(false)
    }
  })
})

it('reads the end of a block as the last line', () => {
  expect(numbered.decode('1→a\nb\nc\n→ end', 'arrow', 99)).toBe('1→a\n2→b\n3→c')
})

it.each(['> [lines 4-9]', '[… lines 4-9]'])('is ended by %s, and says so before others', line => {
  const text = `1→a\n2→b\n3→c\n${line}\n10→d\n11→e\n12→f\n20→g`
  const [written] = numbered.encode(text, tools)
  expect(written!.content).toBe(`1→a\nb\nc\n${line}\n10→d\ne\nf\n→ end\n20→g`)
  expect(numbered.decode(written!.content, 'arrow', 999)).toBe(text)
  expect(numbered.encode(`1→a\n2→${line}\n3→c`, tools)).toEqual([])
  expect(numbered.encode('1→a\n2→→ end\n3→c', tools)).toEqual([])
})

describe('numbers that are no gutter', () => {
  const rows = (write: (no: number) => string) =>
    Array.from({ length: 30 }, (_, at) => write(at + 1))
  const written = (lines: readonly string[]) => numbered.encode(lines.join('\n'), tools)

  it('stay if they are the ids of a table without a head', () => {
    const table = rows(no => `${no}\trowan${no}@lake.example\t${no % 3 ? 'open' : 'shut'}`)
    expect(written(table)).toEqual([])
    expect(written([...table, ''])).toEqual([])
  })

  it.each([
    ['lines of a file that has tabs', (no: number) => `${no}\t${no % 2 ? 'a\tb' : 'c'}`],
    ['lines with unlike numbers of tabs', (no: number) => `${no}\ta\tb${no % 3 ? '\tc' : ''}`],
    ['indented lines', (no: number) => `${no}\t\tgo(${no})`],
    ['rows of a table with padded numbers', (no: number) => `${`${no}`.padStart(6)}\ta\tb${no}`],
    ['lines without tabs', (no: number) => `${no}\tline of no ${no}`],
  ])('are a gutter before %s', (_, write) => {
    expect(written(rows(write))).toHaveLength(1)
  })
})
