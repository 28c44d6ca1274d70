import { expect, it } from 'vitest'
import { isSearch } from '../../../../src/core/pipeline/is-search.ts'

it.each([
  'Grep',
  'Glob',
  'search',
  'code__search',
  'mcp__code__findReferences',
  'WebSearch',
  'search_issues',
  'ripgrep-search',
])('%s searches', tool => {
  expect(isSearch(tool, () => ({}))).toBe(true)
})

it.each([
  'Read',
  'Research',
  'findings',
  'search__read',
  'search_and_replace',
  'findAndEdit',
  '',
  `find_${'x'.repeat(300)}`,
])('%s does not search', tool => {
  expect(isSearch(tool, () => ({}))).toBe(false)
})

it.each([
  ['rg -n word src', true],
  ['cd /src && sudo git grep word', true],
  ['fd name', true],
  ['sed -n 1p find', false],
  ['find . -name x', true],
  ['git log --grep word', false],
  ['cat notes | grep word', false],
  ['', false],
])('the command %s: %s', (command, searches) => {
  expect(isSearch('Bash', () => ({ command }))).toBe(searches)
  expect(isSearch('other', () => ({ command }))).toBe(false)
})

it('a call without a tool is no search', () => {
  expect(isSearch(undefined, () => ({ command: 'rg word' }))).toBe(false)
})
