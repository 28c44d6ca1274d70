import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATIONS } from '../../src/core/operations/registry.ts'
import { createSharedSessions } from '../../src/core/sessions/turn/shared-sessions.ts'
import { createTelemetry } from '../../src/telemetry/telemetry.ts'
import type { BatchMessage } from '../../workers/protocol.ts'
import { createRunner } from '../../workers/thread.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { recordsOf } from '../support/sample-results.ts'
import { percentile } from '../support/statistics.ts'
import { benchSetup } from '../support/worker-setup.ts'

/** Short slices in turn, of which the quickest are those that nothing else got in the way of. */
const SLICES = 1_000
const JOBS = 7
const QUICK = 0.1
const KEY = new Uint8Array(32)
const MIB = 2 ** 20

const contents = Array.from({ length: 64 }, (_, seed) => recordsOf(3_400, seed).slice(0, -2))
let next = 0

/** Jobs as the pool sends them, of bodies that never came before. */
function message(isInSession: boolean, count: number): BatchMessage {
  const bodies = Array.from({ length: count }, () => bodyOf(isInSession))
  let start = 0
  const jobs = bodies.map(({ length }) => {
    start += length
    const job = { op: 'encode', tenant: 'local', media: 'json', accept: 'json' } as const
    return { ...job, phase: 'whole', attempt: `${next++}`, start: start - length, length } as const
  })
  const body = new Uint8Array(Buffer.concat(bodies))
  return { jobs, body: body.buffer, slot: 0 }
}

function bodyOf(isInSession: boolean): Buffer {
  const n = next++
  const content = `${contents[n % contents.length]},\n  {"id": "#${n}"}\n]`
  const call = {
    session: `agent ${Math.floor(n / 50)}`,
    tool_call_id: `call ${n}`,
    tool: 'Bash',
    args: { command: `cd /srv/app && git log --oneline -n ${n}` },
  }
  return Buffer.from(JSON.stringify({ content, ...(isInSession ? call : {}) }))
}

function runnerWith(setup: object) {
  const sizes = { maxSessions: 1_000, maxEntries: 5_000, seeds: [1, 2] } as const
  const sessions = createSharedSessions(sizes, 64 * MIB)
  return createRunner(OPERATIONS, { ...benchSetup(), sessions, ...setup })
}

/**
 * What a job takes a worker, without and with telemetry, in microseconds.
 * @param together jobs of a message
 */
function worker(isInSession: boolean, together: number) {
  const runners = { off: runnerWith({}), on: runnerWith({ telemetryKey: KEY }) }
  const found = { off: [] as number[], on: [] as number[] }
  for (let slice = 0; slice < 2 * SLICES; slice++) {
    const side = slice % 2 === 0 ? 'off' : 'on'
    const messages = Array.from({ length: JOBS / together }, () => message(isInSession, together))
    // By the clock: processor time is counted in steps of milliseconds on some machines.
    const started = performance.now()
    for (const each of messages) runners[side](each)
    found[side].push((1000 * (performance.now() - started)) / JOBS)
  }
  const quick = (all: readonly number[]) => percentile(all, QUICK)
  return { off: quick(found.off), on: quick(found.on), together }
}

/**
 * What an event takes the main thread and its files, all threads counted, in microseconds of
 * processor time.
 */
async function writer(): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))
  const response = factsText()
  const found: number[] = []
  for (let round = 0; round < 20; round++) {
    const telemetry = createTelemetry({
      folder: join(folder, `${round}`),
      key: KEY,
      settings: {
        ...{ sample_rate: 1, flush_every_n: 25, rotate_bytes: 8 * MIB, max_bytes: 1024 * MIB },
        ...{ idle_ms: 1_800_000, event_ttl_ms: 2_592_000_000, summary_ttl_ms: 7_776_000_000 },
      },
      now: Date.now,
      steadyNow: Date.now,
      random: Math.random,
      onEvents: () => {},
      onProblem(error) {
        throw error
      },
    })
    const before = process.cpuUsage()
    for (let n = 0; n < 6_400; n++) {
      const session = (n % 32).toString(16).padStart(16, '1')
      const content = n.toString(16).padStart(32, '0')
      const ids = `"session_hash":"${session}","content_sha_prefix":"${content}"`
      telemetry.record('local', `{${ids},${response.slice(1)}`)
      // As many turns of the event loop as there would be answers.
      if (n % 8 === 0) await new Promise(setImmediate)
    }
    await telemetry.close()
    const { user, system } = process.cpuUsage(before)
    found.push((user + system) / 6_400)
  }
  rmSync(folder, { recursive: true })
  return percentile(found, QUICK)
}

function factsText(): string {
  return JSON.stringify({
    tool_call_id_hash: '00000000',
    tool_name_anon: 'Bash',
    endpoint_class: 'git_log',
    response_chars: 4_000,
    shape: 'array_of_objects',
    inner_formats: ['url', 'log'],
    is_dedup_hit: false,
    layer_used: 'L2',
    tokenizer: 'o200k_base',
    tokens_baseline: 1_000,
    tokens_final: 500,
    dedup_tokens_saved: 0,
    encoder_tokens_saved: 500,
    elided_tokens_saved: 0,
    context_partition: 0,
    is_sidechain: false,
    key_stability: 1,
    depth: 2,
  })
}

/** What telemetry adds to a 4 KiB encode, in this process, as a Markdown table. */
export async function cost(): Promise<string> {
  const written = await writer()
  const rows = [1, JOBS].flatMap(together => [
    ['no session', worker(false, together)] as const,
    ['session, all bodies new', worker(true, together)] as const,
  ])
  return markdownTable(
    [
      '4 KiB encodes',
      'jobs of a message',
      'job without, µs',
      'job with, µs',
      'recorded and written, µs',
      'in all, µs',
    ],
    rows.map(([label, { off, on, together }]) => [
      label,
      together,
      ...[off, on, written, on - off + written].map(cell => cell.toFixed(1)),
    ]),
  )
}
