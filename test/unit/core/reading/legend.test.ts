import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { CONSTRUCTS, isNeverAt } from '../../../../src/core/reading/constructs.ts'
import { LEGEND, LEGEND_PARTS } from '../../../../src/core/reading/legend.ts'
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
