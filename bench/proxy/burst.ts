import { once } from 'node:events'
import { connect } from 'node:net'
import { answerIn } from '../http/wire.ts'
import { growingConversation, stepsFor } from './growing-conversations.ts'

/**
 * Conversations at once, each on a connection of its own and turn by turn: `node burst.ts
 * '{"port":…}'` prints one JSON line. Raw sockets, and requests that are ready before the first is
 * sent.
 */
export interface BurstPlan {
  readonly port: number
  readonly corpus?: string
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
  const head = [
    'POST /anthropic/v1/messages HTTP/1.1',
    `host: 127.0.0.1:${port}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    ...(bypass ? ['x-haversack-bypass: true'] : []),
  ]
  return Buffer.concat([Buffer.from(`${head.join('\r\n')}\r\n\r\n`), body])
}

/** Sends requests one after the other, each when the one before is answered. */
async function speaker(port: number) {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.setNoDelay(true)
  return {
    async say(requests: readonly Buffer[]): Promise<void> {
      for (const request of requests) {
        socket.write(request)
        let got = Buffer.alloc(0)
        let answer = answerIn(got)
        while (answer === null) {
          const [chunk] = (await once(socket, 'data')) as [Buffer]
          got = Buffer.concat([got, chunk])
          answer = answerIn(got)
        }
        if (answer.status !== 200) throw new Error(`answered ${answer.status}`)
      }
    },
    end: () => socket.destroy(),
  }
}

async function burst(plan: BurstPlan): Promise<BurstResult> {
  const steps = stepsFor(plan.corpus)
  const talks = await Promise.all(
    Array.from({ length: plan.conversations }, async (_, n) => {
      const { first, turns } = growingConversation(steps, plan.from + n, plan.bytes)
      const requests = turns.map(turn => written(plan, turn))
      return { ...(await speaker(plan.port)), first: written(plan, first), requests }
    }),
  )
  await Promise.all(talks.map(({ say, first }) => say([first])))
  const started = performance.now()
  await Promise.all(talks.map(({ say, requests }) => say(requests)))
  const seconds = (performance.now() - started) / 1000
  for (const { end } of talks) end()
  const requests = talks.reduce((sum, talk) => sum + talk.requests.length, 0)
  return { requests, per_second: requests / seconds }
}

process.stdout.write(`${JSON.stringify(await burst(JSON.parse(process.argv[2] ?? '{}')))}\n`)
