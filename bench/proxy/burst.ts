import { LoadClient, postRequest } from '../support/load-client.ts'
import { growingConversation, stepsFor } from './growing-conversations.ts'

/**
 * Conversations at once, each on a connection of its own and turn by turn: `node burst.ts
 * '{"port":…}'` prints one JSON line. Raw sockets, and requests that are ready before the first is
 * sent.
 */
export interface BurstPlan {
  readonly port: number
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

function written({ port, bypass }: BurstPlan, body: Uint8Array): Buffer {
  const headers = bypass ? ['x-haversack-bypass: true'] : []
  return postRequest(port, '/anthropic/v1/messages', body, headers)
}

/** Sends requests one after the other, each when the one before is answered. */
async function say(client: LoadClient, requests: readonly Buffer[]): Promise<void> {
  for (const request of requests) {
    const { status } = await client.ask(request)
    if (status !== 200) throw new Error(`answered ${status}`)
  }
}

async function burst(plan: BurstPlan): Promise<BurstResult> {
  const steps = stepsFor(plan.corpus)
  const talks = Array.from({ length: plan.conversations }, (_, n) => {
    const { first, turns } = growingConversation(steps, plan.from + n, plan.bytes)
    const requests = turns.map(turn => written(plan, turn))
    return { client: new LoadClient(plan.port), first: written(plan, first), requests }
  })
  await Promise.all(talks.map(({ client, first }) => say(client, [first])))
  const started = performance.now()
  await Promise.all(talks.map(({ client, requests }) => say(client, requests)))
  const seconds = (performance.now() - started) / 1000
  for (const { client } of talks) client.destroy()
  const requests = talks.reduce((sum, talk) => sum + talk.requests.length, 0)
  return { requests, per_second: requests / seconds }
}

process.stdout.write(`${JSON.stringify(await burst(JSON.parse(process.argv[2] ?? '{}')))}\n`)
