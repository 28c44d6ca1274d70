import { connect, type Socket } from 'node:net'
import { answerIn, quantile, type RequestPlan, requestsOf } from './wire.ts'

/**
 * A closed-loop load on loopback, in a process of its own: `node load.ts '{"port":…}'` prints one
 * JSON line. Raw sockets and ready-made requests, so that it takes as little of the shared cores as
 * it can.
 */
export interface LoadPlan extends RequestPlan {
  readonly connections: number
  readonly seconds: number
  /** Pause before each request of a connection, in milliseconds. */
  readonly pauseMs?: number
}

export interface LoadResult {
  readonly requests: number
  readonly errors: number
  readonly per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

async function run(plan: LoadPlan): Promise<LoadResult> {
  const requests = requestsOf(plan)
  const latencies: number[] = []
  let errors = 0
  let next = 0
  const started = performance.now()
  const deadline = started + plan.seconds * 1000

  const client = () =>
    new Promise<void>((resolve, reject) => {
      const socket: Socket = connect(plan.port, '127.0.0.1')
      socket.setNoDelay(true)
      let buffered: Buffer = Buffer.alloc(0)
      let sentAt = 0
      const send = () => {
        if (performance.now() >= deadline) {
          socket.destroy()
          resolve()
          return
        }
        sentAt = performance.now()
        socket.write(requests[next++ % requests.length] as Buffer)
      }
      socket.on('connect', send)
      socket.on('error', reject)
      socket.on('close', () => {
        if (performance.now() < deadline) errors++
        resolve()
      })
      socket.on('data', (chunk: Buffer) => {
        buffered = buffered.length === 0 ? chunk : Buffer.concat([buffered, chunk])
        const answer = answerIn(buffered)
        if (answer === null) return
        latencies.push(performance.now() - sentAt)
        if (answer.status !== 200) errors++
        buffered = Buffer.alloc(0)
        if (plan.pauseMs === undefined) send()
        else setTimeout(send, plan.pauseMs)
      })
    })

  await Promise.all(Array.from({ length: plan.connections }, client))
  const seconds = (performance.now() - started) / 1000
  latencies.sort((a, b) => a - b)
  return {
    requests: latencies.length,
    errors,
    per_second: latencies.length / seconds,
    p50_ms: quantile(latencies, 0.5),
    p99_ms: quantile(latencies, 0.99),
    max_ms: quantile(latencies, 1),
  }
}

process.stdout.write(`${JSON.stringify(await run(JSON.parse(process.argv[2] ?? '{}')))}\n`)
