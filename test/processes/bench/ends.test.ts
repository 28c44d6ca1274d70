import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'

const RUN = fileURLToPath(new URL('../../../bench/run.ts', import.meta.url))

function childrenOf(pid: number): readonly number[] {
  const list = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return list === '' ? [] : list.split(' ').map(Number)
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

it.skipIf(process.platform !== 'linux')(
  'a bench that a signal ends leaves no server behind',
  async () => {
    const bench = spawn(process.execPath, [RUN, 'service', '--only', 'neighbours'], {
      stdio: 'ignore',
    })
    const exit = once(bench, 'exit')
    // A stand-in of a vendor, and the service.
    await eventually(() => expect(childrenOf(bench.pid!).length).toBeGreaterThanOrEqual(2))
    const servers = childrenOf(bench.pid!)
    bench.kill('SIGTERM')
    expect(await exit).toEqual([143, null])
    await eventually(() => expect(servers.filter(isRunning)).toEqual([]))
  },
)

it('says what a bench takes, and what was wrong, without a trace', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [RUN, 'stale', ...args], { encoding: 'utf8' })
  expect(run('--help').stdout).toMatch(/^npm run bench -- stale \[--days N\]\n\nNames files/)
  const { status, stderr } = run('--days', 'many')
  expect([status, stderr]).toEqual([
    1,
    '--days takes a number\nusage: npm run bench -- stale [--days 90]\n',
  ])
})
