import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { circlesOf } from './circles.ts'
import { areaOf, readImports } from './read-imports.ts'

const root = new URL('../../../', import.meta.url)

/**
 * The rows of ARCHITECTURE.md's table of layers: each folder, and the folders that it may import.
 */
function readLayers(): ReadonlyMap<string, ReadonlySet<string>> {
  const text = readFileSync(new URL('ARCHITECTURE.md', root), 'utf8')
  const table = /\| folder \| may import \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(text)?.[1] ?? ''
  const names = (cell: string) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name as string)
  return new Map(
    table.split('\n').flatMap(row => {
      const [, folder = '', allowed = ''] = row.split('|')
      return names(folder).map(name => [name, new Set(names(allowed))] as const)
    }),
  )
}

const MOST_CODEC_LINES = 36_000
const layers = readLayers()
const imports = readImports(root)

describe('layers', () => {
  it('has a row for every folder, and a folder for every row', () => {
    const areas = new Set([...imports.keys()].map(areaOf))
    expect([...layers.keys()].sort()).toEqual([...areas].sort())
  })

  it.each([...layers])('%s imports only what its row allows, types included', (area, allowed) => {
    const forbidden = [...imports]
      .filter(([file]) => areaOf(file) === area)
      .flatMap(([file, targets]) =>
        targets
          .map(areaOf)
          .filter(target => target !== area && !allowed.has(target))
          .map(target => `${file} imports ${target}`),
      )
    expect(forbidden).toEqual([])
  })

  it.each([...layers])('%s needs every row of its own', (area, allowed) => {
    const used = new Set(
      [...imports]
        .filter(([file]) => areaOf(file) === area)
        .flatMap(([, targets]) => targets.map(areaOf)),
    )
    expect([...allowed].filter(each => !used.has(each))).toEqual([])
  })

  it('has no circle of files, types included', () => {
    expect(circlesOf(imports)).toEqual([])
  })

  it('has no circle of folders within core', () => {
    const core = [...layers].filter(([area]) => area.startsWith('core/'))
    expect(circlesOf(new Map(core.map(([area, allowed]) => [area, [...allowed]])))).toEqual([])
  })

  it('finds a planted circle', () => {
    const planted = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['a']],
      ['d', ['a']],
    ])
    expect(circlesOf(planted)).toEqual([['a', 'b', 'c']])
  })
})

describe('the root of src/', () => {
  it('holds the three entry points only', () => {
    const loose = [...imports.keys()].filter(file => /^src\/[^/]+$/.test(file))
    expect(loose.sort()).toEqual(['src/cli.ts', 'src/index.ts', 'src/main.ts'])
  })
})

it('a service loads the laboratory only when it needs it', () => {
  const direct = [...readImports(root, 'at start')].filter(([file]) => areaOf(file) === 'service')
  expect(direct.length).toBeGreaterThan(20)
  const labs = direct.filter(([, targets]) => targets.some(target => areaOf(target) === 'lab'))
  expect(labs.map(([file]) => file)).toEqual([])
})

describe('what src/library/codec.ts loads', () => {
  it('is the core and the vocabularies: no configuration, environment or HTTP', () => {
    const loads = new Set(['src/library/codec.ts'])
    const values = readImports(root, 'values')
    for (const file of loads) for (const target of values.get(file) ?? []) loads.add(target)
    const others = [...loads].filter(file => !file.startsWith('src/core/'))
    expect(others.sort()).toEqual([
      'src/files/make-folder.ts',
      'src/library/codec.ts',
      'src/runtime/tiktoken.ts',
      'src/runtime/vocabulary.ts',
    ])
    const texts = [...loads].map(file => readFileSync(new URL(file, root), 'utf8'))
    const lines = texts.map(text => text.split('\n').length)
    expect(lines.reduce((sum, each) => sum + each)).toBeLessThan(MOST_CODEC_LINES)
    // To build schemas takes a quarter of a start.
    expect(texts.filter(text => /^import \{.*from 'zod'/m.test(text))).toEqual([])
    expect(
      [...loads].filter(file => /core\/(conversation|operations|enrich)\//.test(file)),
    ).toEqual([])
  })
})
