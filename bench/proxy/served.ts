import type { Step } from '../../test/support/turns/bodies.ts'
import { timedCall } from '../support/http-client.ts'
import { startServer } from '../support/processes.ts'
import { growingConversation } from './growing-conversations.ts'

/** The service, and the stand-in of a vendor behind it, each in a process of its own. */
export interface Servers {
  readonly upstream: string
  readonly service: string
  /** Of the service. */
  readonly pid: number
  stop(): Promise<void>
}

export async function startServers(): Promise<Servers> {
  const vendor = await startServer('proxy/upstream-server.ts')
  const service = await startServer('../src/main.ts', { HAVERSACK_ANTHROPIC_URL: vendor.url })
  return {
    ...{ upstream: vendor.url, service: service.url, pid: service.pid },
    async stop() {
      await service.stop()
      await vendor.stop()
    },
  }
}

/**
 * Turns after which the threads' code is compiled, so that what follows is what a service does that
 * has run for a minute.
 */
const COMPILED_TURNS = 800
const BYTES = 100_000
/** So many bytes of new results are spread over the threads, so that each of them is started. */
const SPREAD_BYTES = 750_000

/** Sends conversations that are not measured. */
export async function warmUp({ service }: Servers, steps: readonly Step[]): Promise<void> {
  const send = (body: Uint8Array) => timedCall(`${service}/anthropic/v1/messages`, body)
  await send(growingConversation(steps, 0, SPREAD_BYTES).first)
  let left = COMPILED_TURNS
  for (let n = 0; left > 0; n++) {
    const { first, turns } = growingConversation(steps, n, BYTES)
    for (const body of [first, ...turns]) {
      await send(body)
      left--
    }
  }
}
