import { setTimeout as sleep } from 'node:timers/promises'
import { type Answer, agent, post } from './http-client.ts'
import { summarizeTimes, type Times } from './statistics.ts'

export interface ClosedLoop {
  readonly connections: number
  readonly seconds: number
  /** Pause after each answer, in milliseconds. */
  readonly pauseMs?: number
  /** What a connection sends next, and to where. */
  request(connection: number): Parameters<typeof post>
  onAnswer?(answer: Answer): void
}

export interface LoadResult extends Omit<Times, 'count'> {
  readonly requests: number
  /** Answers other than 200, and connections that ended early. */
  readonly errors: number
  readonly per_second: number
}

/** Connections that each send a request when the one before is answered. */
export async function runClosedLoop(loop: ClosedLoop): Promise<LoadResult> {
  const latencies: number[] = []
  let errors = 0
  const started = performance.now()
  const deadline = started + loop.seconds * 1000

  async function occupy(connection: number): Promise<void> {
    while (performance.now() < deadline) {
      const answer = await post(...loop.request(connection)).catch(() => null)
      if (answer?.status !== 200) errors++
      if (answer === null) return
      latencies.push(answer.ms)
      loop.onAnswer?.(answer)
      if (loop.pauseMs !== undefined) await sleep(loop.pauseMs)
    }
  }

  await Promise.all(Array.from({ length: loop.connections }, (_, at) => occupy(at)))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  const { count, ...times } = summarizeTimes(latencies)
  return { requests: count, errors, per_second: count / seconds, ...times }
}
