import { describe, expect, test } from 'vitest'
import { createSteadyClock } from '../../../src/store/sqlite/loop.ts'
import { inlineStore, keep, MINUTE, must, START } from './inline-store.ts'

const DAY = 24 * 60 * MINUTE

/** A wall clock and a stopwatch that move when told, and the clock over them. */
function clocks() {
  const state = { now: START, ms: 0 }
  const jumps: number[] = []
  const steady = createSteadyClock({
    wall: () => state.now,
    stopwatch: () => state.ms,
    onJump: aheadMs => jumps.push(aheadMs),
  })
  const pass = (ms: number) => {
    state.now += ms
    state.ms += ms
  }
  const jump = (ms: number) => {
    state.now += ms
  }
  return { steady, jumps, pass, jump }
}

describe('the time by which bodies end', () => {
  test('follows the wall clock, also in large steps and where it is slowly set right', () => {
    const { steady, jumps, pass, jump } = clocks()
    for (const ms of [1, 1000, DAY]) {
      pass(ms)
      jump(500)
      steady()
    }
    expect(steady()).toBe(START + 1001 + DAY + 1500)
    expect(jumps).toEqual([])
  })

  test('goes on steadily over a jump ahead that comes back', () => {
    const { steady, jumps, pass, jump } = clocks()
    jump(DAY)
    expect(steady()).toBe(START)
    pass(9 * MINUTE)
    expect(steady()).toBe(START + 9 * MINUTE)
    jump(-DAY)
    expect(steady()).toBe(START + 9 * MINUTE)
    // A second jump is held back as long again.
    jump(DAY)
    pass(9 * MINUTE)
    expect(steady()).toBe(START + 18 * MINUTE)
    expect(jumps).toEqual([DAY, DAY])
  })

  test('takes a jump ahead that stays for the time of day, after ten minutes', () => {
    const { steady, jumps, pass, jump } = clocks()
    jump(DAY)
    steady()
    pass(10 * MINUTE)
    expect(steady()).toBe(START + DAY + 10 * MINUTE)
    pass(MINUTE)
    expect(steady()).toBe(START + DAY + 11 * MINUTE)
    expect(jumps).toEqual([DAY])
  })

  test('follows a clock that goes back, at once', () => {
    const { steady, jumps, jump } = clocks()
    jump(-DAY)
    expect(steady()).toBe(START - DAY)
    expect(jumps).toEqual([])
  })
})

describe('the store over a jump of a day', () => {
  async function storeWithJumps() {
    const { steady, ...rest } = clocks()
    // The property is read as the store reads a clock.
    const clock = {
      get now() {
        return steady()
      },
    }
    const { store } = await inlineStore({ clock })
    return { store, ...rest }
  }

  test('ahead and back: nothing ends, pinned or not, and a put keeps its sessions', async () => {
    const { store, jump, pass } = await storeWithJumps()
    const key = { tenant: 'a', namespace: 'n', key: 'k' }
    const { hash: ref } = await keep(store, 'x', { tenant: 'a', session: 's' })
    must(await store.writeRecord({ ...key, value: new Uint8Array(1), ttlMs: 5 * MINUTE }))
    jump(DAY)
    pass(MINUTE)
    must(await store.prune())
    expect((await keep(store, 'x')).created).toBe(false)
    jump(-DAY)
    must(await store.get({ tenant: 'a', session: 's', ref: ref.slice(0, 8) }))
    must(await store.readRecord(key))
    expect(must(await store.stats()).counters?.expired).toBe(0)
  })

  test('back: what was kept stays, what is put then ends by the clock of then', async () => {
    const { store, jump, pass } = await storeWithJumps()
    const { hash: old } = await keep(store, 'old')
    jump(-DAY)
    const { hash: fresh } = await keep(store, 'fresh')
    pass(31 * MINUTE)
    must(await store.prune())
    must(await store.get({ tenant: 'a', ref: old }))
    expect(await store.get({ tenant: 'a', ref: fresh })).toMatchObject({ reason: 'gone' })
  })
})
