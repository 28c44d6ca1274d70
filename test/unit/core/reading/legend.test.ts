import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { tree } from '../../../../src/core/formats/json/tree/tree.ts'
import { prefixed } from '../../../../src/core/formats/text/prefixed.ts'
import { TEXT_FORMATS } from '../../../../src/core/formats/text/registry.ts'
import { templated } from '../../../../src/core/formats/text/templated.ts'
import { writeJson } from '../../../../src/core/json/write-json.ts'
import { CONSTRUCTS, isNeverAt } from '../../../../src/core/reading/constructs.ts'
import { LEGEND, LEGEND_PARTS } from '../../../../src/core/reading/legend.ts'
import { readReference } from '../../../../src/core/sessions/lines/reference-line.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { counters } from '../../../support/vocabularies.ts'

it('explains each construct that balanced uses, once, and no other', () => {
  const explained = LEGEND_PARTS.flatMap(({ explains }) => explains)
  const used = CONSTRUCTS.filter(construct => !isNeverAt(construct, 'balanced'))
  expect([...explained].sort()).toEqual([...used].sort())
})

it.each(ENCODINGS)('takes at most 100 tokens of %s', encoding => {
  expect(counters.get(encoding).count(LEGEND)).toBeLessThanOrEqual(100)
})

it('stands in the guide', () => {
  const page = new URL('../../../../docs/reference/hints.md', import.meta.url)
  expect(readFileSync(page, 'utf8').replaceAll('\n', ' ')).toContain(LEGEND)
})

it('covers the constructs of each format that is written unnamed', () => {
  const known: Readonly<Record<string, readonly (typeof CONSTRUCTS)[number][]>> = {
    csv: ['table'],
    json_compact: ['brackets'],
    tree: ['affix', 'affix_number', 'brackets', 'shape', 'table'],
    ndjson: ['json_lines'],
    numbered: ['numbered'],
    diff: ['git_headers'],
    prefixed: ['heading', 'indented_heading', 'times'],
    templated: ['template', 'template_switch'],
    terminal: ['sign'],
    // These have the others' constructs.
    mcp: [],
    strings: [],
  }
  const written = [...JSON_FORMATS, ...TEXT_FORMATS.filter(({ onlyNamed }) => onlyNamed !== true)]
  expect(written.map(({ id }) => id).sort()).toEqual(Object.keys(known).sort())
  const explained = new Set(LEGEND_PARTS.flatMap(({ explains }) => explains))
  for (const construct of Object.values(known).flat()) expect(explained).toContain(construct)
})

it('says what the readers of texts do', () => {
  const json = (text: string) => writeJson(tree.decode(text))
  expect(LEGEND).toContain('"id=d-*": 7=d-7')
  expect(json('[2]:\nid=d-*,n\n7,1\nx,2')).toBe('[{"id":"d-7","n":1},{"id":"d-x","n":2}]')
  expect(LEGEND).toContain('A(1,2) fills A{x,y}')
  expect(json('A{x,y}\na:A(1,2)\nb:A(3,4)')).toBe('{"a":{"x":1,"y":2},"b":{"x":3,"y":4}}')
  expect(LEGEND).toContain('A fill "A: GET {1}"')
  expect(templated.decode('A: GET {1}\n\nA\n/a\n/b', '', 99)).toBe('GET /a\nGET /b')
  expect(LEGEND).toContain('"path…" begins lines')
  expect(prefixed.decode('path…\n/a\n/b\n', 'dots', 99)).toBe('path/a\npath/b')
  expect(LEGEND).toContain('"×3": thrice')
  expect(prefixed.decode('wait\n×3', 'dots', 99)).toBe('wait\nwait\nwait')
  const [, line = ''] = /"(> \[lines [^"]*)"/.exec(LEGEND) ?? []
  const gutter = { kind: 'kept', shift: 2 }
  expect(readReference(line)).toEqual({ ref: undefined, first: 3, last: 9, gutter })
})
