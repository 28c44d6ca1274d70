import { describe, expect, it } from 'vitest'
import type { Kind } from '../../../src/core/base/fair-queue.ts'
import { readMarks } from '../../../src/core/base/thread-marks.ts'
import { createProgress, createSlots } from '../../../src/pool/slots.ts'

const job = (limitMs?: number, kind: Kind = 'short') => ({
  tenant: 'local',
  sized: { tenant: 'local', op: 'count', bytes: 10 },
  kind,
  costUs: 10,
  queuedAt: 0,
  limitMs,
})

/** One slot with jobs that have these limits of their own, and its mark. */
function slotWith(entries = [job(), job()]) {
  const progress = createProgress(1)
  const slots = createSlots(progress)
  const slot = slots.take(entries)
  const begin = (index: number) => {
    new Int32Array(progress)[slot.index] = index
  }
  return { slots, slot, begin }
}

describe('slots', () => {
  it('are in use until they are released', () => {
    const slots = createSlots(createProgress(2))
    const first = slots.take([job()])
    slots.take([job()])
    expect(slots.inUse.size).toBe(2)
    first.release()
    first.release()
    expect(slots.inUse.size).toBe(1)
  })

  it('do not give a mark to the next batch that a dying thread may still write to', () => {
    const slots = createSlots(createProgress(1))
    const indices = Array.from({ length: 10 }, () => {
      const slot = slots.take([job()])
      slot.release()
      return slot.index
    })
    expect(new Set(indices).size).toBe(10)
  })

  it('do not share a mark however often others come and go', () => {
    const slots = createSlots(createProgress(2))
    const long = slots.take([job()])
    for (let i = 0; i < 1_000; i++) {
      const short = slots.take([job()])
      expect(short.index).not.toBe(long.index)
      short.release()
    }
  })

  it('wait for native work of a thread before they stop it, and before the end', async () => {
    const progress = createProgress(1)
    const slots = createSlots(progress)
    const slot = slots.take([job()])
    const { marks, protections } = readMarks(progress)
    marks[slot.index] = 0
    slots.look(0, 50)
    slots.look(40, 50)
    protections[slot.index] = 1
    slots.look(140, 50)
    expect(slot.stopped).toBe(null)
    let isQuiet = false
    const quiet = slots.beforeEnd().then(() => {
      isQuiet = true
    })
    await new Promise(setImmediate)
    expect([isQuiet, slots.mayEnd()]).toEqual([false, false])
    protections[slot.index] = 0
    await quiet
    expect(slots.mayEnd()).toBe(true)
    slots.look(150, 50)
    expect(slot.stopped).toBe('timeout')
  })

  it('stop a batch only when one job has been running too long', () => {
    const { slots, slot, begin } = slotWith()
    slots.look(0, 100)
    begin(0)
    slots.look(50, 100)
    slots.look(140, 100)
    begin(1)
    slots.look(230, 100)
    slots.look(320, 100)
    expect(slot.signal.aborted).toBe(false)
    slots.look(340, 100)
    expect(slot.signal.aborted).toBe(true)
    expect(slot.stopped).toBe('timeout')
    expect(slot.current()).toBe(1)
  })

  it('stop a job by its own limit, and the others of its batch by that of all', () => {
    const { slots, slot, begin } = slotWith([job(), job(50), job(500)])
    const isStopped = (at: number) => {
      slots.look(at, 100)
      return slot.signal.aborted
    }
    begin(0)
    expect([isStopped(0), isStopped(90)]).toEqual([false, false])
    begin(2)
    expect([isStopped(100), isStopped(190)]).toEqual([false, false])
    begin(1)
    expect([isStopped(200), isStopped(249), isStopped(251)]).toEqual([false, false, true])
  })

  it('blame the job that ran late, not the one that its thread came to meanwhile', () => {
    const { slots, slot, begin } = slotWith()
    begin(0)
    for (const at of [0, 90, 180]) slots.look(at, 100)
    begin(1)
    expect([slot.stopped, slot.current()]).toEqual(['timeout', 0])
  })

  it('count no time before a thread begins, because it may have to start first', () => {
    const { slots, slot, begin } = slotWith()
    for (let at = 0; at <= 20_000; at += 50) slots.look(at, 100)
    expect(slot.ranMs).toBe(0)
    begin(0)
    slots.look(20_050, 100)
    slots.look(20_100, 100)
    expect([slot.stopped, slot.ranMs]).toEqual([null, 50])
  })

  it('give up on a thread that never begins, and blame no job', () => {
    const { slots, slot } = slotWith()
    for (let at = 0; at <= 31_000; at += 50) slots.look(at, 100)
    expect([slot.stopped, slot.current()]).toEqual(['timeout', -1])
  })

  it('count no time in which this process did not run either', () => {
    const { slots, slot, begin } = slotWith()
    begin(0)
    for (const at of [0, 50, 100]) slots.look(at, 1_000)
    slots.look(60_000, 1_000)
    expect(slot.stopped).toBeNull()
    for (let at = 60_050; at <= 61_000; at += 50) slots.look(at, 1_000)
    expect(slot.stopped).toBe('timeout')
  })

  it('call a short job long while it runs long, and its followers by themselves', () => {
    const { slots, slot, begin } = slotWith()
    slots.look(0, 1_000)
    slots.look(200, 1_000)
    expect(slot.isLong).toBe(false)
    begin(0)
    for (const at of [250, 300, 350, 400]) slots.look(at, 1_000)
    expect([slot.isLong, slot.kind]).toEqual([true, 'short'])
    begin(1)
    slots.look(450, 1_000)
    expect(slot.isLong).toBe(false)
    expect(slotWith([job(undefined, 'long')]).slot.isLong).toBe(true)
  })
})
