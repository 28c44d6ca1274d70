import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { SavingsAnswer } from '../../../src/core/contract/savings.ts'
import { CachingAgent, type Style } from '../../support/caching/agent.ts'
import { CachingVendor } from '../../support/caching/vendor.ts'
import { startSmallService } from '../service/harness.ts'
import { figure } from './watched-service.ts'

const DAY_MS = 86_400_000
const PATH = '/anthropic/v1/messages'
/** A text that the vendor refuses. */
const TOO_LONG = 'too long for this model'
/** A client's own fault, of which the vendor's error names the field too. */
const MISSPELT = 'cache_controls'

/** What a vendor bills, as `/v1/savings` names it. */
type Billed = SavingsAnswer['conversations'][number]['usage']

/**
 * A vendor's API that keeps caches, with services before it that share a folder, and may end and
 * begin again.
 */
async function world(vendor: CachingVendor, section = 'place = true', replicas = 1) {
  const bodies: string[] = []
  const billed = { uncached: 0, read: 0, written: 0, long: 0, output: 0 }
  const server = createServer(async (incoming, outgoing) => {
    const text = (await buffer(incoming)).toString()
    bodies.push(text)
    const answer = text.includes(TOO_LONG)
      ? { status: 400, message: 'prompt is too long' }
      : text.includes(MISSPELT)
        ? { status: 400, message: `${MISSPELT}: Extra inputs are not permitted` }
        : vendor.ask(JSON.parse(text), Date.now())
    if ('usage' in answer) {
      const { usage } = answer
      const long = usage.cache_creation.ephemeral_1h_input_tokens
      billed.uncached += usage.input_tokens
      billed.read += usage.cache_read_input_tokens
      billed.written += usage.cache_creation_input_tokens - long
      billed.long += long
      billed.output += usage.output_tokens
    }
    const error = { type: 'invalid_request_error', message: 'message' in answer && answer.message }
    const message = { type: 'message', model: 'claude-sonnet-4-5', content: [] }
    outgoing.writeHead(answer.status, { 'content-type': 'application/json' })
    outgoing.end(
      JSON.stringify(
        'usage' in answer ? { ...message, usage: answer.usage } : { type: 'error', error },
      ),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = mkdtempSync(join(tmpdir(), 'haversack-cache-life-'))
  const pipeline_config_file = join(folder, 'pipeline.toml')
  writeFileSync(pipeline_config_file, `[cache_life]\n${section}\nhosts = ["${host}"]\n`)
  const proxy = { anthropic_url: `http://${host}` }
  const settings = { pipeline_config_file, data_dir: folder, workers: { count: 1 }, proxy }
  const services = await Promise.all(
    Array.from({ length: replicas }, () => startSmallService(settings)),
  )
  onTestFinished(async () => {
    for (const service of services) await service.close()
    server.close()
    rmSync(folder, { recursive: true })
  })
  return {
    bodies,
    async send(body: object, headers: Record<string, string> = {}, replica = 0) {
      const answer = await services[replica]!.post(PATH, JSON.stringify(body), headers)
      return { status: answer.status, text: await answer.text() }
    },
    async restart(replica = 0) {
      await services[replica]!.close()
      services[replica] = await startSmallService(settings)
    },
    figure: (name: string, replica = 0) => figure(services[replica]!, name),
    async savings(replica = 0) {
      const answer = await fetch(`${services[replica]!.url}/v1/savings`)
      return (await answer.json()) as SavingsAnswer
    },
    /** What the vendor billed so far. */
    billed(): Billed {
      return {
        uncached_tokens: billed.uncached,
        cache_read_tokens: billed.read,
        cache_write_tokens: billed.written,
        cache_write_long_tokens: billed.long,
        output_tokens: billed.output,
      }
    },
  }
}

const isPlaced = (text: string) => text.startsWith('{"cache_control":{"type":"ephemeral"},')

describe('prompts that a vendor caches', () => {
  it('are read from the third request on if the client sets no breakpoint, across a restart', async () => {
    const { send, bodies, restart, savings } = await world(new CachingVendor())
    const agent = new CachingAgent('a', 'none')
    for (let turn = 0; turn < 4; turn++) {
      if (turn > 0) agent.step(1)
      if (turn === 2) await restart()
      expect((await send(agent.body())).status).toBe(200)
    }
    expect(bodies.map(isPlaced)).toEqual([false, true, true, true])
    const { vendors } = await savings()
    expect(vendors.anthropic?.misses).toEqual([])
    const { cache_read_tokens, cache_write_tokens } = vendors.anthropic!.usage
    expect(cache_read_tokens).toBeGreaterThan(4_000)
    expect(cache_write_tokens).toBeGreaterThan(2_000)
  })

  it('go once more without a breakpoint that is refused, and none is placed there again', async () => {
    const { send, bodies, savings } = await world(new CachingVendor({ takesTop: false }))
    const [one, two] = [new CachingAgent('a', 'none'), new CachingAgent('b', 'none')]
    await send(one.body())
    one.step(1)
    const { status, text } = await send(one.body())
    expect([status, JSON.parse(text).type]).toEqual([200, 'message'])
    expect(bodies.map(isPlaced)).toEqual([false, true, false])
    expect(bodies[2]).toBe(bodies[1]!.replace('"cache_control":{"type":"ephemeral"},', ''))
    one.step(1)
    await send(one.body())
    await send(two.body())
    two.step(1)
    await send(two.body())
    expect(bodies.slice(3).map(isPlaced)).toEqual([false, false, false])
    expect((await savings()).vendors.anthropic?.requests).toBe(5)
  })

  it('are refused for other reasons as the vendor says it', async () => {
    const { send, bodies } = await world(new CachingVendor())
    const agent = new CachingAgent('a', 'none')
    await send(agent.body())
    agent.step(1)
    const { status, text } = await send({ ...agent.body(), stop_sequences: [TOO_LONG] })
    expect([status, JSON.parse(text).error.message]).toEqual([400, 'prompt is too long'])
    await send(agent.body())
    expect(bodies.map(isPlaced)).toEqual([false, true, true])
  })

  it('are placed for others after a client made its own fault, which it is told', async () => {
    const { send, bodies } = await world(new CachingVendor())
    const [one, two] = [new CachingAgent('a', 'none'), new CachingAgent('b', 'none')]
    await send(one.body())
    one.step(1)
    const { status, text } = await send({ ...one.body(), [MISSPELT]: {} })
    expect([status, JSON.parse(text).error.message]).toEqual([
      400,
      `${MISSPELT}: Extra inputs are not permitted`,
    ])
    await send(two.body())
    two.step(1)
    await send(two.body())
    expect(bodies.map(isPlaced)).toEqual([false, true, false, false, true])
  })

  it('miss with a reason that savings and metrics name, also after a restart', async () => {
    const vendor = new CachingVendor()
    const { send, restart, savings, figure: of } = await world(vendor)
    const agent = new CachingAgent('a', 'system and last two')
    for (let turn = 0; turn < 6; turn++) {
      if (turn > 0) agent.step(1)
      if (turn === 2) agent.head.system += ' It is 2026-11-28.'
      if (turn === 4) {
        await restart()
        vendor.forget()
      }
      await send(agent.body())
    }
    const { vendors, conversations } = await savings()
    const reasons = vendors.anthropic?.misses.map(({ reason, count }) => [reason, count])
    expect(reasons?.sort()).toEqual([
      ['provider', 1],
      ['system', 1],
    ])
    expect(conversations[0]?.changed?.place).toBe('system')
    const labels = '{vendor="anthropic",reason="provider"}'
    expect(await of(`haversack_cache_misses_total${labels}`)).toBe(1)
    expect(await of(`haversack_cache_miss_tokens_total${labels}`)).toBeGreaterThan(1_000)
  })
})

/** A prompt that is worth a ping, without what the vendor refuses of one. */
function largeAgent(name: string, style: Style = 'last'): CachingAgent {
  const agent = new CachingAgent(name, style)
  agent.head.system += 'Take care. '.repeat(16_000)
  delete agent.head.settings['thinking']
  return agent
}

const KEY = { 'x-api-key': 'sk-ant-api03-test' }
const LOGIN = { authorization: 'Bearer sk-ant-oat01-test' }

/** Moves the clock, and takes timers that are about so long away from it. */
function heldTimers(leastMs: number, mostMs: number) {
  const [timer, clock] = [globalThis.setTimeout, Date.now]
  const held: (() => void)[] = []
  // From noon on: what pings may cost is counted by the day.
  let ahead = 1.5 * DAY_MS - (clock() % DAY_MS)
  vi.spyOn(Date, 'now').mockImplementation(() => clock() + ahead)
  const set = vi.spyOn(globalThis, 'setTimeout')
  set.mockImplementation(((run: () => void, ms = 0, ...args: []) => {
    if (ms < leastMs || ms > mostMs) return timer(run, ms, ...args)
    held.push(run)
    return timer(() => {}, ms)
  }) as typeof setTimeout)
  onTestFinished(() => void vi.restoreAllMocks())
  return {
    held,
    pass(ms: number) {
      ahead += ms
    },
  }
}

describe('lives of caches', () => {
  it('are longer under an API key alone, with one bill here and at the vendor', async () => {
    const { send, bodies, restart, savings } = await world(new CachingVendor(), 'life = "1h"')
    const agents = [largeAgent('a'), largeAgent('b')] as const
    for (let turn = 0; turn < 3; turn++) {
      for (const agent of agents) if (turn > 0) agent.step(1)
      if (turn === 2) await restart()
      expect((await send(agents[0].body(), KEY)).status).toBe(200)
      expect((await send(agents[1].body(), LOGIN)).status).toBe(200)
    }
    expect(bodies.map(text => text.includes('"ttl":"1h"'))).toEqual([
      true,
      false,
      true,
      false,
      true,
      false,
    ])
    const { misses, usage } = (await savings()).vendors.anthropic!
    expect(misses).toEqual([])
    expect(usage.cache_write_long_tokens).toBeGreaterThan(40_000)
  })

  it('are not longer at an upstream that refuses to', async () => {
    const vendor = new CachingVendor()
    const refusing = { ask: vendor.ask.bind(vendor) }
    vendor.ask = (body, at) =>
      JSON.stringify(body).includes('"ttl"')
        ? { status: 400, message: 'cache_control.ttl: Extra inputs are not permitted' }
        : refusing.ask(body, at)
    const { send, bodies } = await world(vendor, 'life = "1h"')
    const agent = largeAgent('a')
    expect((await send(agent.body(), KEY)).status).toBe(200)
    agent.step(1)
    expect((await send(agent.body(), KEY)).status).toBe(200)
    expect(bodies.map(text => text.includes('"ttl"'))).toEqual([true, false, false])
    expect(bodies[1]).toBe(bodies[0]!.replace(',"ttl":"1h"', ''))
  })

  it('are kept by pings in a pause, which are in the bill, and by none for a subscription', async () => {
    const timers = heldTimers(270_000, 280_000)
    const { send, bodies, savings } = await world(new CachingVendor(), 'pings = 1\nbudget = 0.5')
    // What the first conversations cost is what a day's pings may be a share of.
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
      await send(largeAgent(name).body(), KEY)
      await send(largeAgent(`${name} of a subscription`).body(), LOGIN)
    }
    const agent = largeAgent('g')
    await send(agent.body(), KEY)
    await vi.waitFor(() => expect(timers.held).toHaveLength(6))
    timers.pass(280_500)
    timers.held.at(-1)!()
    await vi.waitFor(() => expect(bodies).toHaveLength(14))
    expect(bodies[13]).toBe(bodies[12]!.replace('"max_tokens":1000', '"max_tokens":0'))
    await vi.waitFor(async () => expect((await savings()).vendors.anthropic?.life?.pings).toBe(1))
    timers.pass(200_000)
    agent.step(1)
    await send(agent.body(), KEY)
    const { life, misses, requests } = (await savings()).vendors.anthropic!
    expect([life?.pings, misses, requests]).toEqual([1, [], 14])
    expect(life!.saving).toBeGreaterThan(40_000)
  })
  it('have one bill here and at the vendor through two replicas that restart', async () => {
    const timers = heldTimers(270_000, 280_000)
    const section = 'place = true\nlife = "auto"\npings = 1\nbudget = 0.5'
    const all = await world(new CachingVendor(), section, 2)
    // With the first request a process begins to read what became of lives. What the second one
    // costs is what pings of a day may be a share of.
    await all.send(new CachingAgent('first', 'none').body(), KEY, 1)
    const rich = largeAgent('rich')
    rich.head.system = rich.head.system.repeat(5)
    await all.send(rich.body(), KEY, 1)
    const agents = [
      { agent: new CachingAgent('a', 'none'), headers: KEY },
      { agent: largeAgent('b', 'last'), headers: KEY },
      { agent: new CachingAgent('c', 'system and last two'), headers: KEY },
      { agent: new CachingAgent('d', 'one hour for the system'), headers: KEY },
      { agent: new CachingAgent('e', 'last'), headers: LOGIN },
    ]
    const isPing = (body: string) => body.includes('"max_tokens":0')
    const pings = () => all.bodies.filter(isPing).length
    // Seconds before each turn. In each pause there is a moment for pings.
    const turns = [
      { seconds: 0, sent: 0 },
      { seconds: 2, sent: 0 },
      { seconds: 1, sent: 0 },
      { seconds: 350, sent: 1 },
      { seconds: 700, sent: 2 },
      { seconds: 3, sent: 2 },
      { seconds: 400, sent: 2 },
    ]
    for (const [turn, { seconds, sent }] of turns.entries()) {
      const until = Math.min(281, seconds)
      timers.pass(1_000 * until)
      for (const ping of timers.held.splice(0)) ping()
      await vi.waitFor(() => expect(pings()).toBe(sent))
      timers.pass(1_000 * (seconds - until))
      if (turn === 5) await all.restart(0)
      if (turn === 6) await all.restart(1)
      for (const [at, { agent, headers }] of agents.entries()) {
        if (turn > 0) agent.step(1)
        const replica = (at + Number(turn > 4)) % 2
        expect((await all.send(agent.body(), headers, replica)).status).toBe(200)
      }
    }
    const changes = [0, 1].map(replica =>
      all.figure('haversack_proxy_prefix_changes_total', replica),
    )
    expect(await Promise.all(changes)).toEqual([0, 0])
    await all.restart(0)
    const { usage, misses, life } = (await all.savings(1)).vendors.anthropic!
    expect(usage).toEqual(all.billed())
    expect(misses.map(({ reason }) => reason)).toEqual(['idle'])
    expect(life).toMatchObject({ pings: 2, premium: expect.toSatisfy(premium => premium > 0) })
  })
})
