import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median } from '../../src/lab/bill/statistics.ts'
import { generatedTexts } from './generated-text.ts'
import { startProcess } from './service-process.ts'

const SAMPLES = 200
const LOSSES = 20
const CONNECTIONS = 16
const TEXTS = 400
/** What the later half may have above the earlier one: noise of when garbage is collected. */
const NOISE = 1.1
const NOISE_MIB = 24

/** Requests of every kind with a worker thread lost now and then, and the memory all the while. */
export async function memory(folder: string, total: number, losses = LOSSES) {
  const config = join(folder, 'memory.toml')
  writeFileSync(config, '[limits]\njob_timeout_ms = 1000\n')
  const { url, child, exited } = await startProcess({
    env: { HAVERSACK_CONFIG: config, HAVERSACK_LOG_LEVEL: 'silent', HAVERSACK_WORKERS: '2' },
  })
  const texts = generatedTexts(1, TEXTS)
  const statuses: Record<string, number> = {}
  let done = 0

  async function ask(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/json' }
    const response = await fetch(url + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers,
    })
    await response.arrayBuffer()
    statuses[response.status] = (statuses[response.status] ?? 0) + 1
  }

  /** Mostly encodes, and a few of everything else, also requests that must fail. */
  function next(): Promise<void> {
    const content = texts[done % texts.length]!
    const kind = (done++ * 7) % 100
    if (kind < 70) return ask('/v1/encode', { content })
    if (kind < 80) return ask('/v1/encode', { content, tokenizer: 'anthropic_class' })
    if (kind < 88) return ask('/v1/count', { content, model: 'gpt-4' })
    if (kind < 92) return ask('/v1/decode', { content, format: 'csv@1' })
    if (kind < 95) return ask('/v1/encode', { text: content })
    if (kind < 98) return ask('/v1/unknown', {})
    const jobs = texts.slice(done % TEXTS).slice(0, 5)
    return ask('/v1/batch', { jobs: jobs.map(text => ({ op: 'encode', content: text })) })
  }

  const samples: { heap: number; resident: number }[] = []
  for (let step = 1; step <= SAMPLES; step++) {
    if (step % (SAMPLES / losses) === 0) {
      // A job that runs longer than the service lets it.
      await ask('/v1/encode', { content: `[${'[],'.repeat(5_000_000)}[]]` })
    }
    const end = Math.round((total * step) / SAMPLES)
    const client = async () => {
      while (done < end) await next()
    }
    await Promise.all(Array.from({ length: CONNECTIONS }, client))
    samples.push(await memoryOf(url))
  }
  child.kill('SIGTERM')
  await exited

  const warm = samples.slice(SAMPLES / 5)
  const halves = [warm.slice(0, warm.length / 2), warm.slice(warm.length / 2)]
  const rows = (['heap', 'resident'] as const).map(name => {
    const [early = 0, late = 0] = halves.map(half => median(half.map(sample => sample[name])))
    return [name, early, late, late / early] as const
  })
  return {
    statuses,
    heap: rows[0]!.slice(1, 3) as [number, number],
    rows,
    ok: rows.every(([, early, late]) => late <= early * NOISE + NOISE_MIB),
  }
}

/** As the service's own metrics say, in MiB. */
async function memoryOf(url: string) {
  const text = await (await fetch(`${url}/metrics`)).text()
  const mib = (name: string) =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1]) / 2 ** 20
  return {
    heap: mib('haversack_nodejs_heap_size_used_bytes'),
    resident: mib('haversack_process_resident_memory_bytes'),
  }
}
