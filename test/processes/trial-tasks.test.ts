import { runInNewContext } from 'node:vm'
import { expect, it, vi } from 'vitest'
import { kindOf, makeTask } from '../../bench/trial/make-task.ts'
import { runTests } from '../../bench/trial/run-tests.ts'
import { solveRaw } from '../../bench/trial/solve-raw.ts'
import { FULL_RUNS } from '../support/runs.ts'
import { someOf } from '../support/short-runs.ts'

const SEEDS = FULL_RUNS ? 1000 : 25
/** Of the repositories, those whose tests run in processes. */
const SLOW_STEP = 100

/** What a repository's tests print, without a process: its names differ, so one text has them all. */
async function runHere(files: ReadonlyMap<string, string>): Promise<string> {
  const code = [...files]
    .filter(([path]) => path.endsWith('.mjs'))
    .map(([, text]) => text.replace(/^import .*$/gm, '').replace(/^export /gm, ''))
  const printed: string[] = []
  runInNewContext(code.join('\n'), { console: { log: (line: string) => printed.push(line) } })
  return printed.join('\n')
}

it('tasks of seeds differ, do not tell their answers, and are solved by their solvers', async () => {
  const worlds = new Set<string>()
  const kinds = new Map<string, number>()
  for (let seed = 0; seed < SEEDS; seed++) {
    const task = makeTask(seed)
    const { files, api } = task.createWorld()
    const first = ['/customers', '/tenants', '/teams', '/runners'].map(path => api(path))
    worlds.add(JSON.stringify([[...files], first]))
    expect(task.prompt, `${seed}`).not.toContain(task.answer)
    for (const word of task.answer.split(' ')) expect(task.prompt).not.toContain(` ${word} `)
    const { wrong, sizes } = await solveRaw(task, seed % SLOW_STEP === 0 ? runTests : runHere)
    expect([seed, wrong]).toEqual([seed, null])
    expect(sizes.length).toBeGreaterThanOrEqual(6)
    expect(sizes.length).toBeLessThanOrEqual(60)
    kinds.set(kindOf(seed).name, (kinds.get(kindOf(seed).name) ?? 0) + 1)
  }
  expect(worlds.size).toBe(SEEDS)
  expect(kinds.size).toBe(5)
})

it('the same seed gives the same task, and a world for each use', async () => {
  const [one, other] = [makeTask(4), makeTask(4)]
  expect([one.prompt, one.answer]).toEqual([other.prompt, other.answer])
  const world = one.createWorld()
  expect([...world.files]).toEqual([...other.createWorld().files])
  world.files.clear()
  expect(one.createWorld().files.size).toBeGreaterThan(0)
})

it('an ending is graded by its state: nothing else may have changed', async () => {
  for (const seed of [0, 4]) {
    const task = makeTask(seed)
    const { world } = await solveRaw(task)
    expect(await task.grade(world)).toBeNull()
    const [path, content] = [...world.files].at(-1)!
    world.files.set(path, `${content}\n`)
    expect(await task.grade(world)).toContain(path)
    const untouched = { ...task.createWorld(), answer: task.answer }
    expect(await task.grade(untouched)).not.toBeNull()
  }
})

const FORBIDDEN = [
  [
    'reads files of others',
    "import { readFileSync } from 'node:fs'\nreadFileSync('/etc/hostname')",
  ],
  ['writes', "import { writeFileSync } from 'node:fs'\nwriteFileSync('x', '')"],
  ['starts processes', "import { execSync } from 'node:child_process'\nexecSync('true')"],
  [
    'starts threads',
    "import { Worker } from 'node:worker_threads'\nnew Worker('0', { eval: true })",
  ],
  ['connects', "await fetch('http://127.0.0.1:65001/').catch(error => { throw error.cause })"],
]

it.each(someOf(FORBIDDEN, 2))('a test of a repository that %s fails', async (_, code) => {
  const output = await runTests(new Map([['test/run.mjs', `${code}\nconsole.log('it may')`]]))
  expect(output).toMatch(/Access to this API has been restricted|ERR_ACCESS_DENIED/)
  expect(output).not.toContain('it may')
})

it('a test of a repository knows no variable of the environment', async () => {
  vi.stubEnv('TRIAL_SECRET', 'planted')
  const code = 'console.log(JSON.stringify(process.env))'
  const output = await runTests(new Map([['test/run.mjs', code]]))
  vi.unstubAllEnvs()
  expect(output).not.toContain('planted')
})
