import { LoadClient, requestsOf } from '../support/load-client.ts'
import { startServer } from '../support/processes.ts'
import { encodeBodies } from './bodies.ts'

const CONNECTIONS = 32
const LOAD_MS = 1_000

export interface DrainRound {
  readonly answered: number
  /** Requests that were sent on an open connection and got no answer. */
  readonly lost: number
  /** Answers other than 200. */
  readonly refused: number
  /** Connections refused before `/readyz` said 503. */
  readonly early: number
  /** Milliseconds from SIGTERM until `/readyz` said 503, and until the process ended. */
  readonly unready_ms: number
  readonly ended_ms: number
  readonly exit_code: number | null
}

/**
 * SIGTERM under a load of clients that keep their connections, and open new ones when told to.
 * @param heedsReadiness whether they open none once `/readyz` says 503, as behind a load balancer
 */
export async function drain(folder: string, heedsReadiness: boolean): Promise<DrainRound> {
  const server = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const bodies = encodeBodies(folder, 4096, 32)
  const { port } = server
  const requests = requestsOf({ port, path: '/v1/encode', method: 'POST', bodies })
  /** Whether a load balancer would still open a connection to this replica. */
  const mayConnect = () => !heedsReadiness || performance.now() < unreadyAt
  const count = { answered: 0, lost: 0, refused: 0, early: 0 }
  let signalledAt = Number.POSITIVE_INFINITY
  let unreadyAt = Number.POSITIVE_INFINITY
  let next = 0

  /** One client: request after request, a new connection whenever the last one ended. */
  async function occupy(): Promise<void> {
    while (mayConnect()) {
      const client = new LoadClient(port)
      try {
        await client.connected
      } catch {
        if (performance.now() < unreadyAt) count.early++
        return
      }
      while (await isKept(client)) {}
    }
  }

  /** Sends a request; whether its connection takes another one. */
  async function isKept(client: LoadClient): Promise<boolean> {
    const request = requests[next++ % requests.length] as Buffer
    const answer = await client.ask(request).catch(() => null)
    if (answer === null) count.lost++
    else if (answer.status === 200) count.answered++
    else count.refused++
    if (answer !== null && !answer.last) return true
    client.end()
    await client.closed
    return false
  }

  async function watchReadiness(): Promise<void> {
    while (unreadyAt === Number.POSITIVE_INFINITY) {
      const { status } = await fetch(`http://127.0.0.1:${port}/readyz`)
      if (status === 503) unreadyAt = performance.now()
    }
  }

  const clients = Promise.all(Array.from({ length: CONNECTIONS }, occupy))
  await new Promise(resolve => setTimeout(resolve, LOAD_MS))
  signalledAt = performance.now()
  const ended = server.stop()
  await watchReadiness()
  const exitCode = await ended
  const endedAt = performance.now()
  await clients
  return {
    ...count,
    unready_ms: unreadyAt - signalledAt,
    ended_ms: endedAt - signalledAt,
    exit_code: exitCode,
  }
}
