import { describe, expect, it } from 'vitest'
import { missingLines } from '../../../../src/core/verify/missing-lines.ts'

const DIFF = [
  '--- a/x',
  '+++ b/x',
  '@@ -1,4 +1,4 @@ f',
  ' one',
  '-two',
  '+2',
  ' three',
  ' four',
  '@@ -9 +9,2 @@',
  ' nine',
  '+ten',
].join('\n')
const VIEW = ['[… lines 1-11 with context 0]', '--- a/x', '+++ b/x', '@@ -2 +2 @@ f', '-two', '+2']
const LAST = ['@@ -9,0 +10 @@', '+ten']
const read = (lines: readonly string[]) =>
  missingLines(DIFF, lines.join('\n')).map(({ runs }) =>
    runs.map(({ first, last }) => `${first}-${last}`),
  )

describe('what is missing in a diff with less context', () => {
  it('is told by the headers of its hunks', () => {
    expect(read([...VIEW, ...LAST])).toEqual([['4-4', '7-8', '10-10']])
  })

  it('cannot be told by headers that lie, or by other lines', () => {
    const wrong = [
      [...VIEW.with(3, '@@ -3 +2 @@ f'), ...LAST],
      [...VIEW.with(3, '@@ -2 +2,2 @@ f'), ...LAST],
      [...VIEW.with(3, '@@ -9 +9 @@ f'), ...LAST],
      [...VIEW.with(4, '-too'), ...LAST],
      [...VIEW.with(0, '[… lines 1-12 with context 0]'), ...LAST],
      [...VIEW, '@@ -9,0 +11 @@', '+ten'],
      VIEW.slice(0, 4),
    ]
    for (const lines of wrong) expect(read(lines), lines.join('\n')).toEqual([])
  })

  it('is told by a mark, if its counts are true', () => {
    expect(read(['--- a/x', '+++ b/x', '[… lines 3-11 +2 −1]'])).toEqual([['3-11']])
    expect(read(['--- a/x', '+++ b/x', '[… lines 3-11 +3 −1]'])).toEqual([])
    expect(read(['--- a/x', '+++ b/x', '[… lines 3-11 +2 −2]'])).toEqual([])
  })
})
