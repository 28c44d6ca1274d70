import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { expect, it, onTestFinished, vi } from 'vitest'
import { setup } from '../../support/memory-folder.ts'

const hasRoom = () => {
  const { bavail, bsize } = statfsSync('/dev/shm')
  return bavail * bsize > 3 * 1024 ** 3
}

it('leaves a folder that was chosen', () => {
  vi.stubEnv('TMPDIR', '/chosen')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(setup()).toBeUndefined()
  expect(tmpdir()).toBe('/chosen')
})

it.skipIf(!existsSync('/dev/shm') || !hasRoom())(
  'makes a folder in memory and removes it, and those of runs that were interrupted',
  () => {
    vi.stubEnv('TMPDIR', undefined)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { pid } = spawnSync(process.execPath, ['--version'])
    const [lost, running] = [pid, process.ppid].map(each => `/dev/shm/haversack-tests-${each}-a`)
    for (const each of [lost!, running!]) mkdirSync(each)
    onTestFinished(() => rmSync(running!, { recursive: true, force: true }))
    const remove = setup()
    expect([lost, running].map(each => existsSync(each!))).toEqual([false, true])
    const folder = tmpdir()
    expect(folder).toMatch(/^\/dev\/shm\/haversack-tests-/)
    expect(existsSync(folder)).toBe(true)
    remove?.()
    expect(existsSync(folder)).toBe(false)
  },
)
