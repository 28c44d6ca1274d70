import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MemorySample, memoryPlot } from './service/memory-plot.ts'
import { createMixedLoad } from './service/mixed-load.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { startServer } from './support/processes.ts'
import { median } from './support/statistics.ts'

/**
 * npm run bench -- soak [--requests N --losses N --corpus DIR --plot FILE --json]
 *
 * Many requests of every kind against one service, with a worker thread lost now and then, and its
 * memory all the while. Ends with 1 where memory grew after the warm-up.
 */
const options = readOptions({ requests: 500_000, losses: 20, corpus: '', plot: '', json: false })

const SAMPLES = 200
/** What the later half may have above the earlier one: noise of when garbage is collected. */
const NOISE = 1.1
const NOISE_MIB = 24

const folder = mkdtempSync(join(tmpdir(), 'haversack-soak-'))
try {
  const config = join(folder, 'haversack.toml')
  writeFileSync(config, '[limits]\njob_timeout_ms = 1000\n')
  const server = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_CONFIG: config,
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const total = options.requests
  const corpus = options.corpus || undefined
  const load = createMixedLoad(server.port, corpus)
  const started = performance.now()
  const samples: MemorySample[] = []
  for (let step = 1; step <= SAMPLES; step++) {
    if (step % Math.ceil(SAMPLES / options.losses) === 0) await load.loseThread()
    await load.run(Math.round(total / SAMPLES))
    samples.push({ requests: load.done, ...(await memoryOf(server.port)) })
  }
  const seconds = (performance.now() - started) / 1000
  await server.stop()

  const warm = samples.slice(samples.length / 5)
  const halves = [warm.slice(0, warm.length / 2), warm.slice(warm.length / 2)] as const
  const of = (half: readonly MemorySample[], key: 'heap_mib' | 'resident_mib') =>
    median(half.map(sample => sample[key]))
  const result = {
    machine: machine(),
    source: load.description,
    requests: load.done,
    per_second: load.done / seconds,
    statuses: load.statuses,
    heap_mib: halves.map(half => of(half, 'heap_mib')),
    resident_mib: halves.map(half => of(half, 'resident_mib')),
  }
  if (options.plot !== '') writeFileSync(options.plot, memoryPlot(samples))
  if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`)
  else {
    const row = (name: string, [early = 0, late = 0]: number[]) => [name, early, late, late / early]
    const rows = [row('heap', result.heap_mib), row('resident', result.resident_mib)]
    process.stdout.write(
      `${JSON.stringify(result.machine)}\n${result.source}: ${load.done} requests, ${result.per_second.toFixed(0)}/s, by status ${JSON.stringify(load.statuses)}\n\n` +
        `${markdownTable(['median MiB after warm-up', 'first half', 'second half', 'ratio'], rows)}\n`,
    )
  }
  const grew = ([early = 0, late = 0]: number[]) => late > early * NOISE + NOISE_MIB
  process.exitCode = grew(result.heap_mib) || grew(result.resident_mib) ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}

/** As the service's own metrics say. */
async function memoryOf(port: number) {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const mib = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20
  return {
    heap_mib: mib('haversack_nodejs_heap_size_used_bytes'),
    resident_mib: mib('haversack_process_resident_memory_bytes'),
  }
}
