import { describe, expect, it } from 'vitest'
import { readFigures } from '../../../bench/compare/read-figures.ts'

const OUTPUT = `Some words.

| size | kind | ms | share |
|---|---|---:|---:|
| 100 KB | at once | 1.25 | 12 % |
| 750 KB | at once | 1,004 | ≤ 5 |

{"machine":{"cores":2,"cpu":"x"},"rates":[10,20]}
| size | kind | ms |
|---|---|---|
| 100 KB | at once | 7 |
`

describe('reading the figures of a bench', () => {
  it('names figures of tables by row and column', () => {
    const figures = readFigures(OUTPUT)
    expect(figures.get('100 KB, at once: ms')).toBe(1.25)
    expect(figures.get('100 KB, at once: share')).toBe(12)
    expect(figures.get('750 KB, at once: ms')).toBe(1004)
    expect(figures.get('750 KB, at once: share')).toBe(5)
  })

  it('keeps figures of the same name apart', () => {
    expect(readFigures(OUTPUT).get('100 KB, at once: ms (2)')).toBe(7)
  })

  it('finds none in other text', () => {
    expect(readFigures('no table\n{not json}\n|').size).toBe(0)
  })
})
