import { setTimeout as sleep } from 'node:timers/promises'
import type { Servers } from './servers.ts'

const PAUSE_MS = 100

/**
 * Asks the primary all the time, and calls `onLate` whenever an answer takes too long. Then the
 * machine has no time for it, or for this process, and services may take it for away.
 * @returns what ends that
 */
export function watchPulse(
  servers: Pick<Servers, 'primary'>,
  lateMs: number,
  onLate: () => void,
): () => void {
  let isOver = false
  const isPrompt = async () => {
    const begunMs = performance.now()
    try {
      const answered = servers.primary().then(primary => primary.ask('PING'))
      const answer = await Promise.race([answered, sleep(lateMs, null, { ref: false })])
      return answer !== null && performance.now() - begunMs < lateMs
    } catch {
      return false
    }
  }
  const watch = async () => {
    while (!isOver) {
      const begunMs = performance.now()
      await sleep(PAUSE_MS)
      const isLate = performance.now() - begunMs > PAUSE_MS + lateMs
      if (!(await isPrompt()) || isLate) onLate()
    }
  }
  void watch()
  return () => {
    isOver = true
  }
}
