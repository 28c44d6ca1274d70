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
    const user = process.getuid?.() ?? 0
    const names = [`${user}-${pid}`, `${user}-${process.ppid}`, `${user + 1}-${pid}`]
    const [lost, running, others] = names.map(each => `/dev/shm/haversack-tests-${each}-a`)
    const kept = [running!, others!]
    for (const each of [lost!, ...kept]) mkdirSync(each)
    onTestFinished(() => {
      for (const each of kept) rmSync(each, { recursive: true, force: true })
    })
    const remove = setup()
    expect([lost!, ...kept].map(each => existsSync(each))).toEqual([false, true, true])
    const folder = tmpdir()
    expect(folder).toMatch(/^\/dev\/shm\/haversack-tests-/)
    expect(existsSync(folder)).toBe(true)
    remove?.()
    expect(existsSync(folder)).toBe(false)
  },
)
