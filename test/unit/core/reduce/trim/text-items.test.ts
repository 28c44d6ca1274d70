import { describe, expect, it } from 'vitest'
import { classify } from '../../../../../src/core/classify/classify.ts'
import { diffFiles, findTextItems } from '../../../../../src/core/reduce/trim/text-items.ts'

const find = (lines: readonly string[], asLines = false) =>
  findTextItems(lines, classify(lines.join('\n'), undefined), asLines)

describe('files of a diff', () => {
  it('begin where git says so, with hunks at their lines', () => {
    const lines = [
      'commit 1',
      'diff --git a/src/a.ts b/src/a.ts',
      'index 1..2 100644',
      '--- a/src/a.ts',
      '+++ b/src/a.ts',
      '@@ -1,1 +1,1 @@',
      '-x',
      '+y',
      '@@ -9 +9 @@ f',
      '-x',
      '+y',
      'diff --git a/b.png b/b.png',
      'Binary files differ',
    ]
    expect(diffFiles(lines)).toEqual([
      { path: 'src/a.ts', start: 1, end: 11, hunks: [5, 8] },
      { path: 'b.png', start: 11, end: 13, hunks: [] },
    ])
  })

  it('begin at their two marks without git, where these are no content of a hunk', () => {
    const lines = [
      '--- old.sql\t2026-01-02',
      '+++ new.sql\t2026-01-03',
      '@@ -1,2 +1,2 @@',
      '--- a comment',
      '+++ another',
      ' same',
      '\\ No newline at end of file',
      '--- /dev/null',
      '+++ b/fresh.ts\r',
      '@@ -0,0 +1 @@',
      '+a',
    ]
    expect(diffFiles(lines)).toEqual([
      { path: 'new.sql', start: 0, end: 7, hunks: [2] },
      { path: 'fresh.ts', start: 7, end: 11, hunks: [9] },
    ])
  })

  it('are found where a hunk has fewer lines than it says', () => {
    const lines = ['--- a', '+++ a', '@@ -1,90 +1,90 @@', ' x', 'diff --git a/b b/b', '@@ -1 +1 @@']
    expect(diffFiles(lines).map(({ path }) => path)).toEqual(['a', 'b'])
  })

  it('are none where there are no headers', () => {
    expect(diffFiles(['@@ -1 +1 @@', '-a', '+b'])).toEqual([])
    expect(find(['@@ -1 +1 @@', '-a', '+b'])).toBeNull()
  })
})

describe('sections', () => {
  it('are headings with what stands below them, not those within fences', () => {
    const lines = ['# A', 'text', '```sh', '# no heading', '```', '> quoted', '## B', '', 'more']
    const found = findTextItems(lines, { shape: 'prose', inner_formats: ['md'] }, false)
    expect(found?.kind).toBe('section')
    expect(found?.items.map(({ start, end }) => [start, end])).toEqual([
      [0, 6],
      [6, 9],
    ])
    const [first] = found!.items
    expect(first!.blocks).toMatchObject([
      { start: 1, end: 2, head: 0, tail: 0 },
      { start: 2, end: 5, head: 1, tail: 1 },
      { start: 5, end: 6, required: true },
    ])
  })

  it('are none where most lines stand before them', () => {
    const text = Array.from({ length: 20 }, (_, i) => `line ${i} of a text, with words.`)
    expect(find([...text, '# A', 'a', '# B', 'b'])).toBeNull()
  })
})

describe('lines', () => {
  const log = Array.from({ length: 9 }, (_, i) => `2026-01-02 03:04:0${i} INFO started ${i}`)

  it('are those of a log, and say which are errors', () => {
    const found = find([...log, '2026-01-02 03:05:00 ERROR no'])
    expect(found?.kind).toBe('line')
    expect(found?.items).toHaveLength(10)
    expect(found?.items.filter(({ isError }) => isError === true)).toHaveLength(1)
  })

  it('are those of any text where it is read from both ends', () => {
    const text = Array.from({ length: 9 }, (_, i) => `step ${i}`)
    expect(find(text)).toBeNull()
    expect(find(text, true)?.kind).toBe('line')
    expect(find(text.slice(0, 3), true)).toBeNull()
  })
})
