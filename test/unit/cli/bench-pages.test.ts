import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { captureCli } from '../../support/capture.ts'
import { temporaryFolder } from '../book/events/writer.ts'

const rows = Array.from({ length: 120 }, (_, id) => ({ id, name: `item ${id}`, state: 'open' }))

function folderWith(files: Record<string, unknown>): string {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'issues'))
  for (const [name, value] of Object.entries(files)) {
    writeFileSync(join(folder, 'issues', name), JSON.stringify(value))
  }
  return folder
}

describe('haversack bench pages', () => {
  it('cuts the lists of one’s own files into pages of a budget, written in three ways', async () => {
    const folder = folderWith({ 'a.json': rows, 'b.json': { total: 120, items: rows } })
    const { code, stdout } = await captureCli('bench', 'pages', folder, '--budget', '400', '--json')
    expect(code).toBe(0)
    const { budget, lists } = JSON.parse(stdout)
    expect([budget, lists.length]).toEqual([400, 2])
    for (const { items, tokens, pages, first } of lists) {
      expect(items).toBe(120)
      for (const way of ['json', 'toon', 'haversack']) {
        // As many pages as the list has budgets, and one more at most for each that is not full.
        expect(pages[way]).toBeGreaterThanOrEqual(Math.ceil(tokens[way] / 400))
        expect(pages[way] * first[way]).toBeGreaterThanOrEqual(items)
      }
      expect(pages.haversack).toBeLessThan(pages.toon)
      expect(pages.toon).toBeLessThan(pages.json)
    }
  })

  it('gives an item that no page has room for a page of its own', async () => {
    const folder = folderWith({ 'a.json': [{ text: 'word '.repeat(900) }, { text: 'short' }] })
    const { stdout } = await captureCli('bench', 'pages', folder, '--budget', '100', '--json')
    expect(JSON.parse(stdout).lists[0].pages).toEqual({ json: 2, toon: 2, haversack: 2 })
  })

  it('prints a table with a sum, and says so if there are no lists', async () => {
    const { stdout } = await captureCli('bench', 'pages', folderWith({ 'a.json': rows }))
    expect(stdout).toMatch(/^Pages of at most 8000 tokens/)
    expect(stdout).toMatch(/^issues 1 +120 +1 +1 +1 +120 +120 +120 +/m)
    expect(stdout).toMatch(/^all +120 +/m)
    const none = await captureCli('bench', 'pages', folderWith({ 'a.json': { a: 1 } }))
    expect(none.stdout).toBe('No lists were found.\n')
  })

  it('takes a path that is there', async () => {
    expect((await captureCli('bench', 'pages', '/nowhere')).code).toBe(2)
    expect((await captureCli('bench', 'pages')).code).toBe(2)
  })
})
