import { Agent, request as httpRequest } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { front, httpUpstream } from '../../integration/proxy/stand-in.ts'
import { startSmallService } from '../../integration/service/harness.ts'
import { FULL_RUNS } from '../../support/runs.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

/**
 * Begins its answer when it has the whole request, keeps nothing of it, and ends the answer when
 * told.
 */
async function patientUpstream() {
  const ends: (() => void)[] = []
  const url = await httpUpstream((incoming, response) => {
    incoming.resume()
    incoming.on('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: 1\n\n')
      ends.push(() => response.end())
    })
  })
  const endAll = () => {
    for (const end of ends.splice(0)) end()
  }
  return { url, endAll }
}

/** An answer that began. */
interface Streaming {
  readonly ended: Promise<void>
}

/** Sends what `body` gives, and resolves when the answer began. */
async function begin(target: string, agent: Agent, body: () => Buffer): Promise<Streaming> {
  const { promise, resolve, reject } = Promise.withResolvers<Streaming>()
  const sent = httpRequest(target, {
    method: 'POST',
    agent,
    headers: { 'content-type': 'application/json' },
  })
  sent.on('error', reject)
  sent.on('response', response => {
    const ended = Promise.withResolvers<void>()
    response.on('end', ended.resolve)
    response.once('data', () => resolve({ ended: ended.promise }))
    response.resume()
  })
  sent.end(body())
  return await promise
}

async function collected(): Promise<void> {
  // What was written is let go in the turns after it left.
  for (let n = 0; n < 5; n += 1) {
    await turn()
    gc()
  }
}

function ownAgent(): Agent {
  const agent = new Agent()
  onTestFinished(() => agent.destroy())
  return agent
}

describe('the body of a request whose answer has begun', () => {
  it('is not held while the answer streams', async () => {
    const upstream = await patientUpstream()
    const bodies: WeakRef<Buffer>[] = []
    const proxy = await front({
      base: upstream.url,
      seen(incoming) {
        incoming.resume()
        const body = Buffer.from(`"${'x'.repeat(100_000)}"`)
        bodies.push(new WeakRef(body))
        return { body }
      },
    })
    const { ended } = await begin(`${proxy.url.origin}/api/`, ownAgent(), () => Buffer.from('{}'))
    await collected()
    expect(bodies.map(body => body.deref())).toEqual([undefined])
    upstream.endAll()
    await ended
    expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'answered', sent_bytes: 100_002 })
  })

  it('is not held by the service either', async () => {
    const upstream = await patientUpstream()
    const service = await startSmallService({
      workers: { count: 1 },
      proxy: { anthropic_url: upstream.url.href },
    })
    onTestFinished(() => service.close())
    const target = `${service.url}/anthropic/v1/messages`
    const agent = ownAgent()
    const BYTES = FULL_RUNS ? 4_000_000 : 1_000_000
    const body = () => Buffer.from(JSON.stringify({ messages: [], pad: 'x'.repeat(BYTES) }))
    const streaming: Promise<void>[] = []
    const one = async () => streaming.push((await begin(target, agent, body)).ended)
    await one()
    await collected()
    const before = process.memoryUsage().external
    for (let n = 0; n < 6; n += 1) await one()
    await collected()
    // `arrayBuffers` would count what a worker got, until its own collection.
    expect(process.memoryUsage().external - before).toBeLessThan(BYTES)
    upstream.endAll()
    await Promise.all(streaming)
  })

  it('is reported as sent once, after the system has taken all of it', async () => {
    const upstream = await patientUpstream()
    const noted: number[] = []
    const proxy = await front({
      base: upstream.url,
      seen(incoming) {
        incoming.resume()
        const body = Buffer.alloc(4_000_000, 'x')
        return { body, onBodySent: () => void noted.push(body.length) }
      },
    })
    const { ended } = await begin(`${proxy.url.origin}/api/`, ownAgent(), () => Buffer.from('{}'))
    expect(noted).toEqual([4_000_000])
    upstream.endAll()
    await ended
    expect(noted).toHaveLength(1)
  })

  it('is not reported as sent if the upstream ends early', async () => {
    const noted: string[] = []
    // It answers before it has read the body, of which most is still to be sent.
    const url = await httpUpstream((incoming, response) => {
      incoming.pause()
      response.end('{}', () => incoming.destroy())
    })
    const proxy = await front({
      base: url,
      seen(incoming) {
        incoming.resume()
        return { body: Buffer.alloc(32_000_000, 'x'), onBodySent: () => void noted.push('sent') }
      },
    })
    const { ended } = await begin(`${proxy.url.origin}/api/`, ownAgent(), () => Buffer.from('{}'))
    await ended
    await proxy.exchanges[0]
    expect(noted).toEqual([])
  })
})
