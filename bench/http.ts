import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { OPERATIONS } from '../src/core/operations/registry.ts'
import { createRunner } from '../workers/thread.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { load, type Server, startServer } from './support/processes.ts'
import { recordsOf } from './support/sample-results.ts'
import { median } from './support/statistics.ts'
import { benchSetup } from './support/worker-setup.ts'

/**
 * npm run bench -- http [--json --rounds N --seconds S]
 *
 * A no-op job through the whole path against a bare app on the same adapter, real encodes against
 * what the cores could do at best, and /livez while large bodies are encoded. Compared in pairs, in
 * turn.
 */
const options = readOptions({ json: false, rounds: 5, seconds: 3 })
const { rounds, seconds } = options
const CONNECTIONS = 64
const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-'))

/** Request bodies of about `bytes` bytes, a line each. */
function bodiesFile(name: string, bytes: number, count: number): string {
  const file = join(folder, name)
  const lines = Array.from({ length: count }, (_, seed) =>
    JSON.stringify({ content: recordsOf(bytes * 0.85, seed) }),
  )
  writeFileSync(file, `${lines.join('\n')}\n`)
  return file
}

/** CPU milliseconds of one encode job as a worker runs it: bytes in, bytes out, in this thread. */
function cpuPerEncode(bodies: string): number {
  const runBatch = createRunner(OPERATIONS, benchSetup())
  const messages = readFileSync(bodies)
    .toString()
    .split('\n')
    .filter(Boolean)
    .map(line => new Uint8Array(Buffer.from(line)))
  const play = () => {
    for (const bytes of messages) {
      const { buffer } = bytes
      const job = {
        op: 'encode',
        tenant: '',
        media: 'json',
        accept: 'json',
        phase: 'whole',
      } as const
      runBatch({ jobs: [{ ...job, start: 0, length: bytes.length }], body: buffer, slot: 0 })
    }
  }
  for (let warm = 0; warm < 30; warm++) play()
  const before = process.threadCpuUsage()
  const times = 30
  for (let round = 0; round < times; round++) play()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000 / (times * messages.length)
}

async function noopAgainstBare(ours: Server, bodies: string) {
  const bare = await startServer('http/bare-server.ts')
  const plan = { path: '/noop', method: 'POST', bodies, connections: CONNECTIONS, seconds } as const
  const pairs: { bare: number; noop: number }[] = []
  for (const port of [bare.port, ours.port]) await load({ ...plan, port, seconds: 2 })
  for (let round = 0; round < rounds; round++) {
    const bareLoad = await load({ ...plan, port: bare.port })
    const noopLoad = await load({ ...plan, port: ours.port })
    if (bareLoad.errors + noopLoad.errors > 0) throw new Error('requests failed')
    pairs.push({ bare: bareLoad.per_second, noop: noopLoad.per_second })
  }
  await bare.stop()
  return pairs
}

async function encodes(ours: Server, bodies: string) {
  const plan = {
    path: '/v1/encode',
    method: 'POST',
    bodies,
    connections: CONNECTIONS,
    seconds,
  } as const
  await load({ ...plan, port: ours.port, seconds: 2 })
  const results = []
  for (let round = 0; round < rounds; round++) {
    const cpuMs = cpuPerEncode(bodies)
    const result = await load({ ...plan, port: ours.port })
    if (result.errors > 0) throw new Error('requests failed')
    results.push({ per_second: result.per_second, cpuMs, p99: result.p99_ms })
  }
  return results
}

async function livezUnderLoad(ours: Server, bodies: string) {
  const big = load({
    port: ours.port,
    path: '/v1/encode',
    method: 'POST',
    bodies,
    connections: 4,
    seconds: seconds * 3,
  })
  const livez = await load({
    port: ours.port,
    path: '/livez',
    method: 'GET',
    connections: 1,
    seconds: seconds * 3 - 1,
    pauseMs: 2,
  })
  return { livez, big: await big }
}

try {
  const ours = await startServer('http/noop-server.ts', { HAVERSACK_LOG_LEVEL: 'warn' })
  const small = bodiesFile('small.jsonl', 4096, 64)
  const pairs = await noopAgainstBare(ours, small)
  const runs = await encodes(ours, small)
  const { livez, big } = await livezUnderLoad(ours, bodiesFile('large.jsonl', 750_000, 4))
  await ours.stop()

  const cores = availableParallelism()
  const result = {
    machine: machine(),
    body_bytes: 4096,
    connections: CONNECTIONS,
    noop: {
      bare_per_second: median(pairs.map(pair => pair.bare)),
      noop_per_second: median(pairs.map(pair => pair.noop)),
      share: median(pairs.map(pair => pair.noop / pair.bare)),
      target: 0.7,
    },
    encode: {
      per_second: median(runs.map(run => run.per_second)),
      p99_ms: median(runs.map(run => run.p99)),
      cpu_ms_per_job: median(runs.map(run => run.cpuMs)),
      share: median(runs.map(run => run.per_second / ((cores * 1000) / run.cpuMs))),
      target: 0.65,
    },
    livez: { p99_ms: livez.p99_ms, max_ms: livez.max_ms, requests: livez.requests, target_ms: 20 },
    large: { per_second: big.per_second, mb_per_second: (big.per_second * 750_000) / 1e6 },
  }
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else {
    const { noop, encode: real } = result
    const rows = [
      ['bare Hono, reads the body', noop.bare_per_second, '', ''],
      ['no-op job, whole path', noop.noop_per_second, noop.share, '≥ 0.70 of bare'],
      ['encode, 4 KiB', real.per_second, real.share, '≥ 0.65 of cores ÷ CPU time'],
      ['encode, 750 KB', result.large.per_second, '', ''],
    ]
    process.stdout.write(`${JSON.stringify(result.machine)}\n\n`)
    process.stdout.write(`${markdownTable(['', 'requests/s', 'share', 'target'], rows)}\n\n`)
    process.stdout.write(`CPU time of a 4 KiB encode: ${real.cpu_ms_per_job.toFixed(3)} ms\n`)
    process.stdout.write(
      `/livez while 750 KB bodies are encoded: p99 ${livez.p99_ms.toFixed(1)} ms, max ${livez.max_ms.toFixed(1)} ms (target 20 ms)\n`,
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
