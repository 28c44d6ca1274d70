import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Servers,
  startOne,
  startWithSentinels,
} from '../../test/support/replica-faults/servers.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { type Server, startServer } from '../support/processes.ts'
import { percentile } from '../support/statistics.ts'

/** After so long without an answer a primary counts as down. */
const DOWN_MS = 500
const SERVICES = 3
const AGENTS = 6
const BEFORE_MS = 4_000
const HUNG_MS = 5_000
/** By then the breaker is open: five calls of 100 ms, and the looks at the server. */
const BREAKER_MS = 1_000
/** A session has so many results, so that a new one has references soon. */
const RESULTS = 40
/** After so long a run that has no references again is given up. */
const PATIENCE_MS = 30_000

interface Answer {
  readonly atMs: number
  readonly ms: number
  readonly isReference: boolean
  readonly isRight: boolean
}

/** What happens to answers when Redis hangs (SIGSTOP), and when a primary is killed. */
export async function outages(): Promise<string> {
  const hung = await run(await startOne(SERVICES), hang)
  const failed = await run(await startWithSentinels(SERVICES, DOWN_MS), kill)
  const header = ['', 'measured', 'at most']
  return markdownTable(header, [...hung, ...failed])
}

type Row = readonly [label: string, measured: string | number, goal: string | number]
type Event = (servers: Servers, answers: readonly Answer[]) => Promise<Row[]>

async function run(servers: Servers, event: Event): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-outages-'))
  const services: Server[] = []
  for (let i = 0; i < SERVICES; i++) {
    const file = join(folder, `${i}.toml`)
    writeFileSync(file, `[store.redis]\n${servers.settings(i)}`)
    const env = { HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent', HAVERSACK_CONFIG: file }
    services.push(await startServer('support/session-server.ts', env))
  }
  const answers: Answer[] = []
  const ending = new AbortController()
  const agents = Array.from({ length: AGENTS }, (_, i) =>
    agent(i, services, answers, ending.signal),
  )
  try {
    await untilReferences(answers, performance.now())
    await sleep(BEFORE_MS)
    return await event(servers, answers)
  } finally {
    ending.abort()
    await Promise.all(agents)
    for (const each of services) await each.stop()
    await servers.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Sends the same result again and again, to one replica after the other. */
async function agent(
  number: number,
  services: readonly Server[],
  answers: Answer[],
  ending: AbortSignal,
): Promise<void> {
  const lines = Array.from({ length: 60 }, (_, i) => `agent ${number} reads line ${i} again`)
  const content = lines.join('\n')
  for (let i = 0; !ending.aborted; i++) {
    const session = `agent ${number} session ${Math.floor(i / RESULTS)}`
    const body = { content, session, tool: 'Read', tool_call_id: `${number} ${i}` }
    const atMs = performance.now()
    const { status, text } = await post(services[i % services.length]!, body)
    const isReference = text.includes('"format":"ref@1"')
    const ms = performance.now() - atMs
    answers.push({ atMs, ms, isReference, isRight: status === 200 })
    await sleep(10)
  }
}

async function post({ port }: Server, body: object) {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/v1/encode`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

/** How long it took from a moment until an answer has a reference. */
async function untilReferences(answers: readonly Answer[], sinceMs: number): Promise<number> {
  while (performance.now() - sinceMs < PATIENCE_MS) {
    const found = answers.find(({ atMs, isReference }) => isReference && atMs >= sinceMs)
    if (found !== undefined) return found.atMs + found.ms - sinceMs
    await sleep(10)
  }
  return Number.POSITIVE_INFINITY
}

const hang: Event = async (servers, answers) => {
  const redis = await servers.primary()
  const hungMs = performance.now()
  const before = answers.slice()
  process.kill(redis.pid, 'SIGSTOP')
  await sleep(HUNG_MS)
  const backMs = performance.now()
  const during = answers.filter(({ atMs }) => atMs >= hungMs)
  process.kill(redis.pid, 'SIGCONT')
  const referencesMs = await untilReferences(answers, backMs)
  const times = (some: readonly Answer[]) => some.map(({ ms }) => ms)
  const opened = during.filter(({ atMs }) => atMs - hungMs >= BREAKER_MS)
  const first = during.filter(({ atMs }) => atMs - hungMs < BREAKER_MS)
  const later = (some: readonly Answer[], share: number) =>
    percentile(times(some), share) - percentile(times(before), share)
  const longest = Math.max(...times(during)) - percentile(times(before), 0.5)
  return [
    ['hung: requests', during.length, ''],
    ['not answered with 200', during.filter(({ isRight }) => !isRight).length, 0],
    ['before: p50 ms', percentile(times(before), 0.5), ''],
    ['longest answer, beyond the p50 before, ms', longest, 250],
    ['first second: p50 later by ms', later(first, 0.5), ''],
    ['from the breaker on: p50 later by ms', later(opened, 0.5), 1],
    ['from the breaker on: p99 later by ms', later(opened, 0.99), 1],
    ['references again after ms', referencesMs, 3_000],
  ]
}

const kill: Event = async (servers, answers) => {
  const before = await servers.primary()
  const killedMs = performance.now()
  await before.stop()
  let primary = before
  while (primary === before) {
    await sleep(10)
    primary = await servers.primary()
  }
  const promotedMs = performance.now()
  const referencesMs = await untilReferences(answers, promotedMs)
  const during = answers.filter(({ atMs }) => atMs >= killedMs)
  return [
    ['primary killed: requests', during.length, ''],
    ['not answered with 200 ', during.filter(({ isRight }) => !isRight).length, 0],
    ['Sentinels have another primary after ms', promotedMs - killedMs, ''],
    ['references again after that, ms', referencesMs, 2_000],
  ]
}
