import { agent, timedCall } from '../support/http-client.ts'
import { growingConversation, stepsFor } from './growing-conversations.ts'

/**
 * Conversations at once, each on a connection of its own and turn by turn: `node burst.ts
 * '{"url":…}'` prints one JSON line. Bodies are ready before the first is sent.
 */
export interface BurstPlan {
  readonly url: string
  /** Empty: made-up results. */
  readonly corpus: string
  readonly bytes: number
  readonly conversations: number
  /** The number of the first conversation. */
  readonly from: number
  /** Forwarded as they are. */
  readonly bypass: boolean
}

export interface BurstResult {
  readonly requests: number
  readonly per_second: number
}

async function burst({ url, bypass, ...plan }: BurstPlan): Promise<BurstResult> {
  const steps = stepsFor(plan.corpus)
  const headers = bypass ? { 'x-haversack-bypass': 'true' } : {}
  /** Sends bodies one after the other, each when the one before is answered. */
  async function say(bodies: readonly Uint8Array[]): Promise<void> {
    for (const body of bodies) await timedCall(`${url}/anthropic/v1/messages`, body, headers)
  }
  const talks = Array.from({ length: plan.conversations }, (_, n) =>
    growingConversation(steps, plan.from + n, plan.bytes),
  )
  await Promise.all(talks.map(({ first }) => say([first])))
  const started = performance.now()
  await Promise.all(talks.map(({ turns }) => say(turns)))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  const requests = talks.reduce((sum, { turns }) => sum + turns.length, 0)
  return { requests, per_second: requests / seconds }
}

process.stdout.write(`${JSON.stringify(await burst(JSON.parse(process.argv[2] ?? '{}')))}\n`)
