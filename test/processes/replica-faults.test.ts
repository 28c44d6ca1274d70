import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRandom, type Random } from '../../bench/support/random.ts'
import { type RedisProcess, startRedis } from '../support/redis-server.ts'
import { SEED } from '../support/runs.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../support/service-process.ts'

const AGENTS = 3
const TURNS = 170
const HANG_MS = 700
const FILES = ['a', 'b', 'c', 'd']
/** References as docs/reference/hints.md has them, of whole texts and of lines. */
const REFERENCE = /^> \[ref ([0-9a-f]{8,64}) .*?(?:(\d+) calls? ago)?\]$/gm

/** The text of a file after some edits; no two lines of all texts are the same. */
function textOf(file: string, edits: number): string {
  const line = (i: number) => `${file} ${i} ${hash('md5', `${file} ${i} ${i < edits ? edits : 0}`)}`
  return Array.from({ length: 50 }, (_, i) => line(i)).join('\n')
}

interface Answer {
  readonly content: string
  readonly format: string
  readonly partition: number
}

/** Replicas behind a load balancer that takes any of them that answers. */
class Replicas {
  readonly services: ServiceProcess[]
  readonly #random: Random

  constructor(services: ServiceProcess[], random: Random) {
    this.services = services
    this.#random = random
  }

  /** Sends a request until a replica answers it. */
  async post(path: string, body: object): Promise<{ status: number; answer: unknown }> {
    for (;;) {
      const at = this.#random(this.services.length)
      try {
        const response = await fetch(`${this.services[at]!.url}${path}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(10_000),
        })
        const answer = await response.json()
        if (response.status !== 503) return { status: response.status, answer }
      } catch {
        // It is gone, or it was killed on the way; nobody knows whether it had counted the call.
      }
    }
  }
}

/** What one agent has been sent, and how it checks what it is sent. */
class Agent {
  readonly #name: string
  readonly #replicas: Replicas
  /** Each text with its number, in the order of calls. */
  #held: { readonly text: string; readonly call: number }[] = []
  #calls = 0
  references = 0

  constructor(name: string, replicas: Replicas) {
    this.#name = name
    this.#replicas = replicas
  }

  async read(content: string): Promise<void> {
    const session = this.#name
    const call = ++this.#calls
    const request = { session, content, tool: 'Read', tool_call_id: `call ${call}` }
    const { status, answer } = await this.#replicas.post('/v1/encode', request)
    expect(status).toBe(200)
    const encoded = answer as Answer
    await this.#check(encoded, call)
    const sent = { content: encoded.content, format: encoded.format, session }
    const decoded = await this.#replicas.post('/v1/decode', sent)
    expect(decoded).toMatchObject({ status: 200, answer: { content } })
    this.#held.push({ text: content, call })
  }

  async compact(): Promise<void> {
    const path = `/v1/sessions/${this.#name}/compaction`
    const { status } = await this.#replicas.post(path, {})
    expect([200, 404]).toContain(status)
    this.#held = []
  }

  /** Each reference names a text that the agent has, by the distance that it counts itself. */
  async #check({ content }: Answer, call: number): Promise<void> {
    for (const [line, id, ago] of content.matchAll(REFERENCE)) {
      this.references++
      const named = this.#held.filter(({ text }) => hash('sha256', text).startsWith(id!))
      expect(named, line).not.toEqual([])
      if (ago === undefined) continue
      expect(
        named.map(each => call - each.call),
        line,
      ).toContain(Number(ago))
    }
  }
}

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('three replicas', () => {
  let redis: RedisProcess
  const start = () => startProcess({ env: { HAVERSACK_REDIS_URL: redis.url } })

  beforeAll(async () => {
    redis = await startRedis()
  })
  afterAll(async () => {
    killProcesses()
    await redis.stop()
  })

  test('send nothing false while they are killed and Redis hangs or drops them', async () => {
    const random = createRandom(SEED)
    const replicas = new Replicas(await Promise.all([start(), start(), start()]), random)
    const names = Array.from({ length: AGENTS }, (_, i) => `agent-${i}`)
    const agents = names.map(name => new Agent(name, replicas))
    let answered = 0
    const faults = [
      async () => void (await redis.ask('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')),
      async () => {
        const at = random(replicas.services.length)
        const { child, exited } = replicas.services[at]!
        child.kill('SIGKILL')
        await exited
        replicas.services[at] = await start()
      },
      async () => {
        process.kill(redis.pid, 'SIGSTOP')
        // Long enough that each replica notices; the agents continue meanwhile.
        hanging = sleep(HANG_MS).then(() => void process.kill(redis.pid, 'SIGCONT'))
      },
    ]
    let hanging = Promise.resolve()
    let next = 0

    async function work(agent: Agent): Promise<void> {
      for (let turn = 0; turn < TURNS; turn++) {
        if (random(25) === 0) await agent.compact()
        const file = FILES[random(FILES.length)]!
        await agent.read(textOf(file, random(3) * 4))
        answered++
        if (answered % 90 !== 0) continue
        await hanging
        await faults[next++ % faults.length]!()
      }
    }

    await Promise.all(agents.map(work))
    await hanging
    expect(next).toBeGreaterThan(faults.length)
    expect(agents.reduce((sum, { references }) => sum + references, 0)).toBeGreaterThan(50)
  })
})
