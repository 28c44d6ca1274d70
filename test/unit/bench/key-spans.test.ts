import { expect, it } from 'vitest'
import { keySpans } from '../../../bench/formats/key-spans.ts'
import { encode } from '../../../src/index.ts'

/** The parts of what a format writes for a value that count as keys. */
function keysOf(value: unknown, format: string): string[] {
  const { content } = encode({ content: JSON.stringify(value, null, 2), formats: [format] })
  return keySpans(`${format}@1`, content).map(([start, end]) => content.slice(start, end))
}

it('keys are told from rows, fences, items and patterns', () => {
  const rows = Array.from({ length: 9 }, (_, at) => ({ at: `1${at}:20:33`, who: `Ann B${at}` }))
  const value = {
    note: 'time: noon, {a: b}',
    log: 'first: line\nsecond line: x\n'.repeat(4),
    rows,
    list: ['plain words here', ['x', 'y'], 'more words'],
    limits: { soft: 1, hard: 2 },
    a_url: 'https://example.com/things/of/all/kinds/a',
    b_url: 'https://example.com/things/of/all/kinds/b',
    c_url: 'https://example.com/things/of/all/kinds/c',
    d_url: 'https://example.com/things/of/all/kinds/d',
  }
  const keys = keysOf(value, 'tree')
  expect(keys.filter(key => !key.includes('*'))).toEqual([
    'note',
    'log',
    'rows',
    'list',
    'limits',
    'soft',
    'hard',
    ...'abcd'.split('').map(c => `${c}_url`),
  ])
  expect(keys.filter(key => key.includes('*'))).toHaveLength(1)
})

it('keys of the other formats', () => {
  const row = { id: 1, name: 'a "name": quoted' }
  expect(keysOf([row, row, row], 'csv')).toEqual(['id,name'])
  expect(keysOf(row, 'json_compact')).toEqual(['"id"', '"name"'])
})
