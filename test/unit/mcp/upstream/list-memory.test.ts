import { describe, expect, it } from 'vitest'
import { SYSTEM_CLOCK } from '../../../../src/mcp/upstream/clock.ts'
import type { CallEnd } from '../../../../src/mcp/upstream/connection.ts'
import { ListMemory } from '../../../../src/mcp/upstream/trunk.ts'

const MAX_BYTES = 1024 * 1024
const LIST = 'tools/list'

/** A page in a message of so many bytes. */
const page = (bytes: number): CallEnd => ({
  kind: 'answered',
  outcome: { kind: 'result', result: Buffer.allocUnsafeSlow(bytes).subarray(0, 10) },
})

const cursor = (n: number) => Buffer.from(`{"cursor":"${n}"}`)

describe('pages of lists that are remembered', () => {
  it('are bounded in bytes of the messages that they hold, the newest last', async () => {
    const memory = new ListMemory(SYSTEM_CLOCK, MAX_BYTES)
    let reads = 0
    const get = (n: number) =>
      memory.get(LIST, cursor(n), async () => {
        reads++
        return page(100_000)
      })
    for (let n = 0; n < 500; n++) {
      await get(n)
      expect(memory.bytes).toBeLessThanOrEqual(MAX_BYTES)
    }
    expect(memory.bytes).toBeGreaterThan(MAX_BYTES / 2)
    await get(499)
    expect(reads).toBe(500)
    await get(0)
    expect(reads).toBe(501)
    memory.outdate('notifications/tools/list_changed')
    expect(memory.bytes).toBe(0)
  })

  it('do not hold one that is larger than all of them may be', async () => {
    const memory = new ListMemory(SYSTEM_CLOCK, MAX_BYTES)
    await memory.get(LIST, null, async () => page(2 * MAX_BYTES))
    expect(memory.bytes).toBe(0)
  })

  it('count the cursors of clients, too', () => {
    const memory = new ListMemory(SYSTEM_CLOCK, MAX_BYTES)
    const long = (n: number) => Buffer.from(`{"cursor":"${'x'.repeat(100_000)}${n}"}`)
    for (let n = 0; n < 50; n++) void memory.get(LIST, long(n), () => new Promise(() => {}))
    expect(memory.bytes).toBeLessThanOrEqual(MAX_BYTES)
    expect(memory.bytes).toBeGreaterThan(MAX_BYTES / 2)
  })

  it('are not counted once a read of them has failed', async () => {
    const memory = new ListMemory(SYSTEM_CLOCK, MAX_BYTES)
    await memory.get(LIST, null, async () => ({ kind: 'timeout' }))
    expect(memory.bytes).toBe(0)
  })
})
