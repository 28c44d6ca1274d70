import { globSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const root = new URL('../../../', import.meta.url)
const MOST_TYPES = 3
const FEWEST_WORDS = 4

it('a type has a name that few others have, so that a search finds it', () => {
  const declared = /^ *(?:export )?(?:(?:abstract )?class|interface|type(?=[^=;\n]*=)) ([A-Z]\w*)/gm
  const names = globSync('{src,workers}/**/*.ts', { cwd: root }).flatMap(file => {
    const text = readFileSync(new URL(file, root), 'utf8')
    return [...text.matchAll(declared)].map(([, name]) => name)
  })
  expect(names.length).toBeGreaterThan(1_000)
  const groups = [...Map.groupBy(names, name => name)]
  expect(groups.filter(([, all]) => all.length > MOST_TYPES).map(([name]) => name)).toEqual([])
})

it('a test says unit and outcome in its title, without the one around it', () => {
  const titles = globSync('test/**/*.test.ts', { cwd: root }).flatMap(file => {
    const text = readFileSync(new URL(file, root), 'utf8')
    return [...text.matchAll(/^ *(?:it|test)\(\s*'([^'\n]+)'/gm)].map(([, title]) => title!)
  })
  expect(titles.length).toBeGreaterThan(1_000)
  expect(titles.filter(title => title.split(' ').length < FEWEST_WORDS)).toEqual([])
})
