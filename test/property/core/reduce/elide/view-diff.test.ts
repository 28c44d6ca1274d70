import fc from 'fast-check'
import { expect, it } from 'vitest'
import { viewDiff } from '../../../../../src/core/reduce/elide/view-diff.ts'
import { missingLines } from '../../../../../src/core/verify/missing-lines.ts'
import { leastHits, runs } from '../../../../support/runs.ts'

const RUNS = runs(200)
const step = fc.tuple(
  fc.constantFrom('same', 'same', 'same', 'same', 'same', 'gone', 'new', 'changed'),
  fc.constantFrom('', 'x', 'a line that is long enough', '[… lines 2-9]', '@@ -1 +1 @@', '-- a'),
)

/** A diff with all context, and both files. */
function diffOf(steps: readonly (readonly [string, string])[]) {
  const olds: string[] = []
  const news: string[] = []
  const body: string[] = []
  for (const [kind, text] of steps) {
    if (kind === 'same') {
      olds.push(text)
      news.push(text)
      body.push(` ${text}`)
      continue
    }
    if (kind !== 'new') {
      olds.push(text)
      body.push(`-${text}`)
    }
    if (kind !== 'gone') {
      news.push(`${text}!`)
      body.push(`+${text}!`)
    }
  }
  const side = (count: number) => `${count === 0 ? 0 : 1}${count === 1 ? '' : `,${count}`}`
  const header = `@@ -${side(olds.length)} +${side(news.length)} @@`
  return { olds, news, lines: ['--- a/x', '+++ b/x', header, ...body] }
}

/** Applies hunks as `patch` does, each at the very place that it names. */
function apply(olds: readonly string[], diff: readonly string[]): string[] {
  const out: string[] = []
  let next = 0
  for (const line of diff) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line)
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1)
      out.push(...olds.slice(next, start))
      next = start
      expect(out.length).toBe(Number(hunk[3]) - (hunk[4] === '0' ? 0 : 1))
    } else if (line.startsWith('+')) out.push(line.slice(1))
    else {
      expect(line.slice(1)).toBe(olds[next])
      if (line.startsWith(' ')) out.push(line.slice(1))
      next++
    }
  }
  return [...out, ...olds.slice(next)]
}

it('a diff with less context gives the same file, and what is missing can be told', () => {
  let cut = 0
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 60, maxLength: 300 }),
      fc.constantFrom('standard' as const, 'compact' as const),
      (steps, level) => {
        const { olds, news, lines } = diffOf(steps)
        const view = viewDiff(lines, level)
        if (view === null) return
        cut++
        const shown = view.text.split('\n').slice(3)
        const bare = shown.map(line => line.replace(/^([ +-])\\\[…/, '$1[…'))
        expect(apply(olds, bare)).toEqual(news)
        const changed = (each: string) => /^[+-]/.test(each)
        expect(bare.filter(changed)).toEqual(lines.slice(3).filter(changed))
        const read = missingLines(lines.join('\n'), view.text)
        const places = read.map(({ runs }) => runs.map(run => `lines ${run.first}-${run.last}`))
        expect(places).toContainEqual(view.omissions.map(({ at }) => at))
      },
    ),
    { numRuns: RUNS },
  )
  expect(cut).toBeGreaterThanOrEqual(leastHits(RUNS / 2))
})
