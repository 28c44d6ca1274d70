import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { median } from '../../src/lab/bill/statistics.ts'
import { keyFor, writeKeysFile } from '../../test/support/keys.ts'
import { growingConversation, stepsFor } from '../proxy/growing-conversations.ts'
import { recordsOf } from '../support/generated-results.ts'
import { timedCall } from '../support/http-client.ts'
import { tableOf } from '../support/markdown-table.ts'
import { load, type Server, startServer } from '../support/processes.ts'

/** What one tenant sends, as many at once as it says; each job takes a thread for 20 s and more. */
const ATTACKS = [
  {
    name: '4 at once: 15 MB of line feeds to /v1/encode',
    path: '/v1/encode',
    bodies: Array<string>(4).fill(JSON.stringify({ content: '\n'.repeat(7_500_000) })),
  },
  {
    name: '4 at once: 20 bytes that take 25 s',
    path: '/v1/burn',
    bodies: Array<string>(4).fill('{"ms":25000}'),
  },
  {
    name: '4 at once: 15 MB that take 25 s',
    path: '/v1/burn',
    bodies: Array<string>(4).fill(JSON.stringify({ ms: 25_000, filler: 'x'.repeat(15_000_000) })),
  },
  {
    name: '16 at once: 20 bytes that take 0.2 s',
    path: '/v1/burn',
    bodies: Array<string>(16).fill('{"ms":200}'),
  },
] as const

/** Before the other tenant is measured, so that the attack has begun, in milliseconds. */
const BEGUN_MS = 1_000
/** Pause of a refused attacker, in milliseconds. */
const RETRY_MS = 100
const CONVERSATION_BYTES = 100_000
/** What the other tenant's p99 may be beside the attack. */
const limitMs = (quietMs: number) => 3 * quietMs + 50

/**
 * The p99 of one tenant's 4 KiB encodes while another tenant burns, and what becomes of its proxied
 * requests.
 */
export async function neighbours(folder: string, rounds: number, seconds: number) {
  const rows: object[] = []
  for (const [index, attack] of ATTACKS.entries()) {
    const all: Round[] = []
    for (let round = 0; round < rounds; round++) {
      all.push(await oneRound(folder, attack, seconds, index * rounds + round))
    }
    const of = (pick: (round: Round) => number) => median(all.map(pick))
    const most = (pick: (round: Round) => number) => Math.max(...all.map(pick))
    const sum = (pick: (round: Round) => number) =>
      all.reduce((total, round) => total + pick(round), 0)
    const quiet = of(({ quiet }) => quiet.p99_ms)
    rows.push({
      'another tenant sends': attack.name,
      'quiet p99 ms': quiet,
      'p99 ms': of(({ attacked }) => attacked.p99_ms),
      'target ms': limitMs(quiet),
      'max ms': most(({ attacked }) => attacked.max_ms),
      refused: sum(({ attacked }) => attacked.errors),
      rewritten: `${sum(({ proxied, untouched }) => proxied - untouched)}/${sum(({ proxied }) => proxied)}`,
      'slowest ms': most(({ slowestMs }) => slowestMs),
      'threads replaced': sum(({ replaced }) => replaced),
    })
  }
  return { text: tableOf(rows) }
}

type Round = Awaited<ReturnType<typeof oneRound>>

async function oneRound(
  folder: string,
  attack: (typeof ATTACKS)[number],
  seconds: number,
  number: number,
) {
  const upstream = await startServer('proxy/upstream-server.ts')
  const scopes: ('encode' | 'proxy' | 'metrics')[] = ['encode', 'proxy', 'metrics']
  const keys = ['attacker', 'neighbour'].map(tenant => keyFor(tenant, { scopes }))
  const file = join(folder, 'keys.json')
  writeKeysFile(file, ...keys)
  const server = await startServer('service/burning-server.ts', {
    HAVERSACK_LOG_LEVEL: 'silent',
    HAVERSACK_KEYS_FILE: file,
    HAVERSACK_ANTHROPIC_URL: upstream.url,
  })
  const [attacker, neighbour] = keys.map(({ key }) => key) as [string, string]
  try {
    const plan = {
      url: `${server.url}/v1/encode`,
      bodies: encodeBodies(folder),
      connections: 2,
      pauseMs: 10,
      seconds,
      key: neighbour,
    } as const
    const stop = new AbortController()
    const talking = converse(server, neighbour, number, stop.signal)
    await load({ ...plan, seconds: 3 })
    const quiet = await load(plan)
    const attackers = attack.bodies.map(body =>
      flood(server.url + attack.path, body, attacker, stop.signal),
    )
    await sleep(BEGUN_MS)
    const before = await counted(server, neighbour)
    const since = performance.now()
    const attacked = await load(plan)
    const after = await counted(server, neighbour)
    stop.abort()
    const times = (await talking).filter(({ endedAt }) => endedAt > since)
    await Promise.all(attackers)
    return {
      quiet,
      attacked,
      proxied: times.length,
      slowestMs: Math.max(...times.map(({ ms }) => ms)),
      untouched: after.untouched - before.untouched,
      replaced: after.lost,
    }
  } finally {
    await Promise.all([server.stop(), upstream.stop()])
  }
}

/** A file of requests for `/v1/encode` of about 4 KiB, a line each. */
function encodeBodies(folder: string): string {
  const file = join(folder, 'encode.jsonl')
  const lines = Array.from({ length: 32 }, (_, seed) =>
    JSON.stringify({ content: recordsOf(3_500, seed) }),
  )
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** Sends one body again and again until it is stopped. */
async function flood(url: string, body: string, key: string, signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  while (!signal.aborted) {
    try {
      const response = await fetch(url, { method: 'POST', body, headers, signal })
      await response.arrayBuffer()
      if (response.ok) continue
    } catch {
      // It was stopped, or its connection was ended.
    }
    await sleep(RETRY_MS)
  }
}

/**
 * A conversation through the proxy, one turn after the other until it is stopped; how long each
 * took.
 */
async function converse({ url }: Server, key: string, number: number, signal: AbortSignal) {
  const steps = stepsFor()
  const times: { ms: number; endedAt: number }[] = []
  for (let n = number * 1_000; !signal.aborted; n++) {
    const { first, turns } = growingConversation(steps, n, CONVERSATION_BYTES)
    for (const body of [first, ...turns]) {
      if (signal.aborted) break
      const ms = await timedCall(`${url}/anthropic/v1/messages`, body, { 'x-haversack-key': key })
      times.push({ ms, endedAt: performance.now() })
      await sleep(20)
    }
  }
  return times
}

/** Proxied requests that were forwarded unchanged, and threads that were replaced. */
async function counted({ url }: Server, key: string) {
  const headers = { authorization: `Bearer ${key}` }
  const text = await (await fetch(`${url}/metrics`, { headers })).text()
  const sum = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}\\{.*\\} (\\d+)$`, 'gm'))].reduce(
      (total, [, value]) => total + Number(value),
      0,
    )
  return {
    untouched: sum('haversack_proxy_untouched_total'),
    lost: sum('haversack_threads_lost_total'),
  }
}
