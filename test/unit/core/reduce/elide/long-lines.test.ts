import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { withoutParts } from '../../../../../src/core/reduce/budget/prune-text.ts'
import { longLineGaps } from '../../../../../src/core/reduce/elide/long-lines.ts'
import { viewDiff } from '../../../../../src/core/reduce/elide/view-diff.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { counters } from '../../../../support/vocabularies.ts'

const shown = (line: string) => {
  const gaps = longLineGaps([line], () => true).get(0)
  return gaps === undefined ? line : withoutParts(line, gaps)
}
const names = Array.from({ length: 900 }, (_, at) => `'test_case_${at}'`).join(', ')

describe('a long line', () => {
  it('loses its middle, and shows its length', () => {
    const line = `report: {${names}} end of it`
    const left = shown(line)
    expect(left.slice(0, 600)).toBe(line.slice(0, 600))
    expect(left.slice(-200)).toBe(line.slice(-200))
    expect(left).toContain(`…[+${line.length - 800} chars]`)
    expect(shown(line.slice(0, 2_000))).toBe(line.slice(0, 2_000))
  })

  it('shows what is around words for failures: of each the first two and the last', () => {
    const middle = Array.from({ length: 30 }, (_, at) => `${at} errors here ${'x '.repeat(400)}`)
    middle[17] += ' TypeError and timeout: 17'
    const left = shown(`${names}${middle.join('')}${names}`)
    for (const there of ['0 errors here', '1 errors here', '29 errors here', 'timeout: 17']) {
      expect(left, there).toContain(there)
    }
    expect(left).not.toContain(' 12 errors here')
    expect(left.length).toBeLessThan(2_500)
  })

  it('a long line is divided between characters', () => {
    for (const pad of ['', 'a']) {
      expect(shown(`${pad}${'😀'.repeat(3_000)}`).isWellFormed()).toBe(true)
    }
  })

  it('a long line takes linear time', () => {
    const left = shown('error '.repeat(3e5))
    expect(left.length).toBeLessThan(3_000)
  })
})

describe('what leaves of a text with a long line', () => {
  const encode = (content: string) => {
    const context = { counters, maxDepth: 64, maxDecodedChars: 1e7, keepsOriginals: true }
    const request = { content, mode: 'elide', min_saved_tokens: 0 } as const
    const { answer } = encodeOperation.run(request, context)
    const entry = { request, answer }
    const { findings, failed } = createVerifier(counters).check({ line: 1, entry })
    expect([findings, failed]).toEqual([[], 0])
    return answer
  }
  const change = ['@@ -1,3 +1,3 @@', ' a', `-${'old, '.repeat(600)}`, '+new', ' b']
  const head = ['diff --git a/x.py b/x.py', '--- a/x.py', '+++ b/x.py']
  const report = `2024-01-01 10:00:00 INFO report: {${names}}`

  it('is verified, of a log', () => {
    const steps = Array.from({ length: 20 }, (_, at) => `2024-01-01 10:00:0${at % 10} INFO step`)
    const forged = `2024-01-01 10:00:00 WARN …[+12 chars] {${names}}`
    const answer = encode([...steps, report, forged, ...steps].join('\n'))
    expect(answer.lossless).toBe(false)
    expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline / 4)
  })

  it('of a diff has each changed line, however long', () => {
    const answer = encode([...head, ...change, report].join('\n'))
    expect(answer.lossless).toBe(false)
    expect(answer.content).toContain(change[2])
    const whole = encode([...head, ...change, ...change].join('\n'))
    expect(whole.lossless).toBe(true)
  })

  it('of a long diff is less around it too, but not for a level', () => {
    const hunks = Array.from({ length: 40 }, (_, at) => {
      const same = Array.from({ length: 4 }, (_, i) => `     const value${at} = work(${i})`)
      return [`@@ -${at * 20 + 1},9 +${at * 20 + 1},9 @@`, ...same, `-a${at}`, `+b${at}`, ...same]
    })
    const lines = [...head, ...hunks.flat(), report]
    const answer = encode(lines.join('\n'))
    expect(answer.content).toMatch(/…\[\+\d+ chars\]/)
    expect(viewDiff(lines, 'standard')!.text).toContain(report)
  })
})
