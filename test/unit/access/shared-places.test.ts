import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSharedPlaces } from '../../../src/access/limits.ts'
import { HELD_MS, type HoldRequest } from '../../../src/core/base/shared-rates.ts'

const MOST = 12
const KEY = { tenant: 'a', keyId: 'key1', most: MOST }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** The places of a key at a store, for three processes that ask it without delay. */
function processesOf(most = MOST) {
  const held = new Map<number, { readonly count: number; readonly until: number }>()
  const store = { isAway: false, asked: 0 }
  const sum = (except: number) =>
    [...held].reduce((all, [process, { count, until }]) => {
      return process === except || until <= performance.now() ? all : all + count
    }, 0)
  const processes = [0, 1, 2].map(id => {
    const rates = {
      replicas: 3,
      lease: async () => null,
      async hold({ wanted }: HoldRequest) {
        store.asked++
        if (store.isAway) return null
        const count = Math.max(0, Math.min(wanted, most - sum(id)))
        held.set(id, { count, until: performance.now() + HELD_MS })
        return count
      },
    }
    const places = createSharedPlaces({ ...KEY, most }, () => rates)
    let running = 0
    return {
      get running() {
        return running
      },
      /** Whether one more request passes. */
      begin() {
        if (running >= places.most(running)) return false
        places.note(++running)
        return true
      },
      end: () => places.note(--running),
    }
  })
  return { store, processes: processes as [Process, Process, Process], held: () => sum(-1) }
}

interface Process {
  readonly running: number
  begin(): boolean
  end(): void
}

/** How many requests pass of so many that try again for so long. */
async function fill(process: Process, tries = 20): Promise<number> {
  for (let i = 0; i < tries; i++) {
    while (process.begin());
    await pass(250)
  }
  return process.running
}

describe('places that three processes share', () => {
  test('are all for one while the others have no requests', async () => {
    const { processes } = processesOf()
    // Its share at once, the others when the store has answered.
    let atOnce = 0
    while (processes[0].begin()) atOnce++
    expect(atOnce).toBe(MOST / 3)
    expect(await fill(processes[0])).toBe(MOST)
    await pass(60_000)
    expect(processes[0].begin()).toBe(false)
  })

  test('are never more together, but for the first requests of a process', async () => {
    const { processes } = processesOf()
    await fill(processes[0])
    await fill(processes[1])
    await fill(processes[2])
    const running = processes.map(each => each.running)
    expect(running[0]).toBe(MOST)
    expect(running[1]).toBeLessThanOrEqual(MOST / 3)
    expect(running[2]).toBeLessThanOrEqual(MOST / 3)
    for (const each of processes) while (each.running > 0) each.end()
    await pass(1_000)
    // From now on all know of each other.
    for (const each of processes) each.begin()
    await pass(1_000)
    for (let i = 0; i < 20; i++) {
      for (const each of processes) while (each.begin());
      await pass(250)
    }
    expect(processes.reduce((all, each) => all + each.running, 0)).toBe(MOST)
  })

  test('come back when requests end, also to the last one', async () => {
    const { processes, held } = processesOf()
    await fill(processes[0])
    while (processes[0].running > 1) processes[0].end()
    await pass(1_000)
    expect(held()).toBe(MOST / 3)
    expect(await fill(processes[1])).toBe(MOST - MOST / 3)
    processes[0].end()
    while (processes[1].running > 0) processes[1].end()
    await pass(1_000)
    expect(held()).toBe(0)
  })

  test('stay held as long as requests are under way, and are not asked for afterwards', async () => {
    const { processes, held, store } = processesOf()
    await fill(processes[0])
    await pass(10 * HELD_MS)
    expect(held()).toBe(MOST)
    while (processes[0].running > 0) processes[0].end()
    await pass(1_000)
    const { asked } = store
    await pass(10 * HELD_MS)
    expect(store.asked).toBe(asked)
  })

  test('are one at a time for each in turn if there is only one', async () => {
    const { processes } = processesOf(1)
    for (let i = 0; i < 9; i++) {
      const process = processes[i % 3]!
      expect(process.begin()).toBe(true)
      await pass(10)
      process.end()
      await pass(1_000)
    }
    expect(processes[0].begin()).toBe(true)
    await pass(10)
    // One of a process that has not asked yet passes, and no other.
    expect(processes[1].begin()).toBe(true)
    processes[1].end()
    await pass(1_000)
    expect(processes[1].begin()).toBe(false)
    processes[0].end()
    expect(await fill(processes[1], 4)).toBe(1)
  })

  test('are a share each while the store is away', async () => {
    const { processes, store } = processesOf()
    store.isAway = true
    for (const each of processes) expect(await fill(each, 4)).toBe(MOST / 3)
    expect(store.asked).toBeLessThan(60)
  })
})
