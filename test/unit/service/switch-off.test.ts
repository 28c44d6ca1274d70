import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { Tuned } from '../../../src/lab/versions/tuned.ts'
import { lockFolder } from '../../../src/runtime/folder-lock.ts'
import { createSwitchOff } from '../../../src/service/book/arms.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-switch-off-'))
afterAll(() => rmSync(folder, { recursive: true }))

const now = () => new Date('2026-01-02T03:04:05Z')
const alarm = (tenant: string) => ({ tenant, class: 'grep', direct: 100.4, high: -3.2 })
const lock = (dataDir: string) => lockFolder(join(dataDir, 'tuned'), 'tuned.lock')

describe('elision of a class', () => {
  it('is switched off in the tuned file, with the reason, and once', async () => {
    const errors: unknown[] = []
    const logger = { error: (...all: unknown[]) => void errors.push(all) } as never
    const switchOff = createSwitchOff({ dataDir: folder, now, logger })
    expect(await switchOff(alarm('one'))).toBe(true)
    expect(new Tuned(folder, 'one').inForce().now).toMatchObject({
      config: { endpoint_overrides: { grep: { elision_enabled: false } } },
      reasons: [{ rule: 'arms', evidence: 'left out 100 tokens, net at most -3' }],
    })
    expect(await switchOff(alarm('one'))).toBe(false)
    expect(errors).toEqual([])
  })

  it('waits for another change between turns of the event loop', async () => {
    const other = lock(folder)
    let pauses = 0
    const logger = { error: () => expect.unreachable() } as never
    const pause = async () => {
      if (++pauses === 3) other.close()
    }
    const switchOff = createSwitchOff({ dataDir: folder, now, logger, pause })
    expect(await switchOff(alarm('two'))).toBe(true)
    expect(pauses).toBe(3)
  })

  it('stays on if the other change does not end, and the log says so', async () => {
    const other = lock(folder)
    const errors: unknown[] = []
    const logger = { error: (...all: unknown[]) => void errors.push(all) } as never
    const switchOff = createSwitchOff({ dataDir: folder, now, logger, pause: async () => {} })
    expect(await switchOff(alarm('three'))).toBe(false)
    other.close()
    expect(errors).toHaveLength(1)
    expect(new Tuned(folder, 'three').inForce().now).toBeNull()
  })
})
