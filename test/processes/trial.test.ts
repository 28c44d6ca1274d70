import { execFile, execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Arm } from '../../bench/trial/arms.ts'
import { ANTHROPIC, OPENAI } from '../../bench/trial/dialects.ts'
import { readAll } from '../../bench/trial/read-all.ts'
import { readShown } from '../support/plain-readers/read-shown.ts'
import { startSmallArm } from '../support/trial/small-arm.ts'

const BENCH = fileURLToPath(new URL('../../bench/trial.ts', import.meta.url))
/** Each commit meets other tasks, the same ones each time. A fault names its seed. */
const COMMIT = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname }).toString()
const FIRST = Number.parseInt(COMMIT.slice(0, 6), 16)
const seedsFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => first + at)

it.each([
  ['raw', 0, 0],
  ['packed', 0, 0],
  ['elided', 30, Infinity],
  ['clearing', 1, Infinity],
] as const)('a plain reader solves every task: %s', async (arm, least, most) => {
  const { arms, faults } = await readAll(seedsFrom(FIRST, 60), [arm], {
    start: startSmallArm,
  })
  expect(faults).toEqual([])
  expect(arms.map(({ tasks, solved }) => [tasks, solved])).toEqual([[60, 60]])
  expect(arms[0]!.fetches).toBeGreaterThanOrEqual(least)
  expect(arms[0]!.fetches).toBeLessThanOrEqual(most)
})

it('and so through Chat Completions', async () => {
  const { faults } = await readAll(seedsFrom(FIRST, 5), ['packed', 'elided'], {
    ...{ start: startSmallArm, dialect: OPENAI },
  })
  expect(faults).toEqual([])
})

it('a reader that lies is caught, with seed, arm and reason', async () => {
  const lie: typeof readShown = (view, at, as) => {
    const said = readShown(view, at, as)
    const text = JSON.stringify(said).replace(/(?<="total_cents":\d+)\d/g, '7')
    return as === 'json' ? JSON.parse(text) : said
  }
  const { arms, faults } = await readAll([1], ['packed'], {
    start: startSmallArm,
    read: lie,
    dialect: ANTHROPIC,
  })
  expect(arms[0]?.solved).toBe(0)
  expect(faults[0]).toMatch(/^seed 1 \(join\), packed: the answer is /)
})

it('the command does it through services of their own, and exits with 0', async () => {
  const ran = await new Promise<{ code: number; out: string }>(resolve => {
    execFile(
      process.execPath,
      [BENCH, '--pairs', '2', '--arms', 'raw,packed', '--json'],
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), out: error === null ? stdout : stderr })
      },
    )
  })
  expect(ran.code, ran.out).toBe(0)
  const { arms } = JSON.parse(ran.out) as { arms: { arm: Arm; solved: number }[] }
  expect(arms.map(({ arm, solved }) => [arm, solved])).toEqual([
    ['raw', 2],
    ['packed', 2],
  ])
})
