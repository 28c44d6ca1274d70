import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createShrinking, SHRINK_LATEST_MS, SHRINK_PAUSE_MS } from '../../../src/pool/threads.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const now = () => performance.now()
const pause = () => vi.advanceTimersByTimeAsync(SHRINK_PAUSE_MS)

/** Threads of which some are busy; each idle one gets one message. */
function threadsWith(ids: readonly number[]) {
  const busy = new Set<number>()
  const asked: number[] = []
  const shrunk: number[] = []
  const shrinking = createShrinking({
    now,
    idle: () => ids.length - busy.size,
    async ask(threadId) {
      asked.push(threadId)
      const place = asked.length % (ids.length - busy.size)
      const isIt = ids.filter(id => !busy.has(id))[place] === threadId
      if (isIt) shrunk.push(threadId)
      return isIt
    },
  })
  return { busy, asked, shrunk, shrinking }
}

describe('shrinking', () => {
  it('asks idle threads after a pause, and no more once it is done', async () => {
    const { asked, shrunk, shrinking } = threadsWith([1, 2, 3])
    shrinking.noteGrown(2)
    expect(asked).toEqual([])
    await pause()
    expect(asked).toEqual([2, 2, 2])
    expect(shrunk).toEqual([2])
    await pause()
    expect(asked).toHaveLength(3)
  })

  it('takes one thread at a time', async () => {
    const { shrunk, shrinking } = threadsWith([1, 2, 3])
    for (const id of [3, 1, 2]) shrinking.noteGrown(id)
    await pause()
    expect(shrunk).toEqual([3])
    await pause()
    expect(shrunk).toEqual([3, 1])
    await pause()
    expect(shrunk).toEqual([3, 1, 2])
  })

  it('waits for a busy thread, and does not let others wait for it', async () => {
    const { busy, asked, shrunk, shrinking } = threadsWith([1, 2])
    busy.add(1)
    shrinking.noteGrown(1)
    shrinking.noteGrown(2)
    await pause()
    await pause()
    expect(shrunk).toEqual([2])
    busy.add(2)
    asked.length = 0
    await pause()
    // Nothing is sent while every thread is at work.
    expect(asked).toEqual([])
    busy.clear()
    await pause()
    expect(shrunk).toEqual([2, 1])
  })

  it('notes that a thread grew again while it waited for other answers', async () => {
    const answers: ((isShrunk: boolean) => void)[] = []
    const ask = vi.fn(() => new Promise<boolean>(resolve => answers.push(resolve)))
    const shrinking = createShrinking({ now, idle: () => 2, ask })
    shrinking.noteGrown(1)
    await pause()
    answers[0]?.(true)
    await vi.advanceTimersByTimeAsync(0)
    shrinking.noteGrown(1)
    answers[1]?.(false)
    await pause()
    expect(ask).toHaveBeenCalledTimes(4)
  })

  it('forgets a thread that has ended, also while it is asked', async () => {
    const ask = vi.fn(async () => {
      shrinking.forget(1)
      throw new Error('the thread has ended')
    })
    const shrinking = createShrinking({ now, idle: () => 1, ask })
    shrinking.noteGrown(1)
    shrinking.noteGrown(2)
    shrinking.forget(2)
    await pause()
    await pause()
    expect(ask.mock.calls).toEqual([[1]])
  })

  it('lets a thread be that is at work again, but not for good', async () => {
    const { asked, shrunk, shrinking } = threadsWith([1, 2])
    const batches = SHRINK_LATEST_MS / SHRINK_PAUSE_MS
    for (let batch = 0; batch < 2 * batches - 2; batch++) {
      shrinking.noteGrown(2)
      await vi.advanceTimersByTimeAsync(SHRINK_PAUSE_MS / 2)
    }
    expect(asked).toEqual([])
    for (let batch = 0; batch < 2; batch++) {
      shrinking.noteGrown(2)
      await vi.advanceTimersByTimeAsync(SHRINK_PAUSE_MS / 2)
    }
    expect(shrunk).toEqual([2])
  })

  it('asks nobody once it is closed', async () => {
    const { asked, shrinking } = threadsWith([1])
    shrinking.noteGrown(1)
    shrinking.close()
    shrinking.noteGrown(1)
    await pause()
    expect(asked).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })
})
