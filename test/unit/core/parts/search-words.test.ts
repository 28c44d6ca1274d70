import { expect, it } from 'vitest'
import { searchWords } from '../../../../src/core/parts/search-words.ts'

const old = { name: 'Read a.ts', text: 'alpha\nbeta gamma\ndelta' }
const recent = { name: 'Bash', text: 'gamma\nepsilon' }

it('shows the lines with most of the words first, then the newest, each with those around it', () => {
  expect(searchWords([old, recent], 'Beta GAMMA')).toBe(
    'Read a.ts, line 2:\nalpha\nbeta gamma\ndelta\nBash, line 1:\ngamma\nepsilon',
  )
})

it('shows at most 20 lines, and says of how many', () => {
  const text = Array.from({ length: 50 }, (_, i) => `word ${i}`).join('\n')
  const found = searchWords([{ name: 'log', text }], 'word')
  expect(found.match(/^log, line/gm)).toHaveLength(20)
  expect(found).toMatch(/\(20 of 50 lines\)$/)
})

it('shows a long line around the first word that it has', () => {
  const long = `${'-'.repeat(5_000)} needle ${'+'.repeat(5_000)}`
  const [, shown = ''] = searchWords([{ name: 'json', text: long }], 'needle').split('\n')
  expect(shown).toMatch(/^…-+ needle \++…$/)
  expect(shown.length).toBe(402)
  const [, last = ''] = searchWords([{ name: 'json', text: `${long}last` }], 'last').split('\n')
  expect(last).toMatch(/^…\++last$/)
})

it.each(['', '  ', 'absent', '.*'])('finds nothing for %j', query => {
  expect(searchWords([old, recent], query)).toMatch(/^no line /)
})

it('reads a large conversation in little time', () => {
  const line = 'export function resolve(profile, query) { return profile.settings[query] }\n'
  const texts = Array.from({ length: 591 }, (_, i) => ({ name: `${i}`, text: line.repeat(8) }))
  searchWords(texts, 'settings absent')
  const before = process.cpuUsage()
  searchWords(texts, 'settings profile absent')
  const { user } = process.cpuUsage(before)
  expect(user / 1_000).toBeLessThan(60)
})
