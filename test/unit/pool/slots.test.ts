import { describe, expect, it } from 'vitest'
import { createProgress, createSlots } from '../../../src/pool/slots.ts'

describe('slots', () => {
  it('are as many as threads', () => {
    const slots = createSlots(createProgress(2), 2)
    const first = slots.take()
    slots.take()
    expect(slots.free).toBe(0)
    first.release()
    first.release()
    expect(slots.free).toBe(1)
  })

  it('do not give a mark to the next batch that a dying thread may still write to', () => {
    const slots = createSlots(createProgress(1), 1)
    const indices = Array.from({ length: 10 }, () => {
      const slot = slots.take()
      slot.release()
      return slot.index
    })
    expect(new Set(indices).size).toBe(10)
  })

  it('do not share a mark however often others come and go', () => {
    const slots = createSlots(createProgress(2), 2)
    const long = slots.take()
    for (let i = 0; i < 1_000; i++) {
      const short = slots.take()
      expect(short.index).not.toBe(long.index)
      short.release()
    }
  })

  it('stop a batch only when one job has been running too long', () => {
    const progress = createProgress(1)
    const marks = new Int32Array(progress)
    const slots = createSlots(progress, 1)
    const slot = slots.take()
    const start = performance.now()
    marks[slot.index] = 0
    slots.stopLate(start + 90, 100)
    marks[slot.index] = 1
    slots.stopLate(start + 180, 100)
    slots.stopLate(start + 270, 100)
    expect(slot.signal.aborted).toBe(false)
    slots.stopLate(start + 290, 100)
    expect(slot.signal.aborted).toBe(true)
    expect(slot.timedOut).toBe(true)
    expect(slot.current()).toBe(1)
  })

  it('stop a job by its own limit, and the others of its batch by that of all', () => {
    const progress = createProgress(1)
    const marks = new Int32Array(progress)
    const slots = createSlots(progress, 1)
    const slot = slots.take(job => (job === 1 ? 50 : job === 2 ? 500 : undefined))
    const start = performance.now()
    const isStopped = (at: number) => {
      slots.stopLate(start + at, 100)
      return slot.signal.aborted
    }
    marks[slot.index] = 0
    expect([isStopped(0), isStopped(90)]).toEqual([false, false])
    marks[slot.index] = 2
    expect([isStopped(100), isStopped(190)]).toEqual([false, false])
    marks[slot.index] = 1
    expect([isStopped(200), isStopped(249), isStopped(251)]).toEqual([false, false, true])
  })
})
