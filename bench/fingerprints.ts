import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Packr } from 'msgpackr'
import { loadConfig } from '../src/config/load.ts'
import { admitRows } from '../src/core/fingerprints/admit-rows.ts'
import { DAY_MS, type Fingerprint } from '../src/core/fingerprints/fingerprint.ts'
import { writeRecord } from '../src/core/fingerprints/upload-record.ts'
import { fingerprintsToParquet } from '../src/fingerprints/parquet-file.ts'
import { createFingerprintThread } from '../src/fingerprints/task-thread.ts'
import { startService } from '../src/service/service.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { createRandom } from './support/random.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- fingerprints
 *
 * Merging a large team in its thread, uploads of 2,000 endpoints, and reads of a document that the
 * client has. Writes the section `fingerprints` of bench/README.md.
 */
const MEMBERS = 200
const ENDPOINTS = 2_000
/** Of an endpoint in a window, as our client cuts its time. */
const SPANS = 5
const MERGES = 5
const UPLOADS = 15
const READ_MS = 3_000
const READERS = 32
const TEAM = '/mcp/fingerprints/v1/teams/bench'
const SPANS_TEAM = `${TEAM}-of-spans`

const random = createRandom(7)
const now = Date.now()

function rowsOf(member: number): Fingerprint[] {
  return Array.from({ length: ENDPOINTS }, (_, index) => {
    const source_sessions = 5 + random(50)
    const prose = random(100) / 100
    return {
      endpoint_class: `endpoint_${index}`,
      call_count: source_sessions * 10,
      avg_response_chars: random(1e6) / 100,
      shape_dominant: prose >= 0.5 ? 'prose' : 'array_of_objects',
      shape_mix: { prose, array_of_objects: 1 - prose },
      dup_rate: random(100) / 100,
      format_entropy: 0.5,
      inner_formats_top3: ['url', 'hash'],
      avg_cols: null,
      avg_rows: null,
      key_stability_mean: 0.9,
      first_seen_ms: now - 20 * DAY_MS + member,
      last_seen_ms: now - DAY_MS,
      source_sessions,
    }
  })
}

async function mergeFigures(): Promise<string[][]> {
  const thread = createFingerprintThread({
    onBug: bug => process.stderr.write(`${bug}\n`),
    onLost: reason => process.stderr.write(`${reason}\n`),
  })
  const terms = { member: 'm', windowDays: 30, now }
  const records = Array.from({ length: MEMBERS }, (_, member) =>
    writeRecord(admitRows(rowsOf(member), null, terms).record),
  )
  const times: number[] = []
  const processor: number[] = []
  const handedOver: number[] = []
  for (let run = 0; run <= MERGES; run += 1) {
    const copies = records.map(record => new Uint8Array(record))
    const started = performance.now()
    const used = process.cpuUsage()
    const merged = thread.run(
      'bench',
      'merge',
      { team: 'bench', records: copies, now },
      copies.map(each => each.buffer),
    )
    const given = performance.now() - started
    await merged
    // The first one starts the thread.
    if (run === 0) continue
    times.push(performance.now() - started)
    handedOver.push(given)
    const { user, system } = process.cpuUsage(used)
    processor.push((user + system) / 1000)
  }
  await thread.close()
  return [
    [
      `merge of ${MEMBERS} members with ${ENDPOINTS} endpoints each`,
      ms(median(times)),
      'under 1 s',
    ],
    ['the same in processor time, of all threads', ms(median(processor)), '–'],
    ['of that, on the main thread, at most', ms(Math.max(...handedOver)), '–'],
  ]
}

async function serviceFigures(): Promise<string[][]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-bench-fingerprints-'))
  const overrides = { port: 0, data_dir: folder, log: { level: 'silent' }, workers: { count: 1 } }
  const limits = { drain_grace_ms: 0 }
  const service = await startService(loadConfig({ env: {}, overrides: { ...overrides, limits } }))
  try {
    return [
      ...(await uploadFigures(service.url)),
      ...(await spansFigures(service.url)),
      ...(await readFigures(service.url)),
    ]
  } finally {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function uploadFigures(url: string): Promise<string[][]> {
  const packr = new Packr({ useRecords: false })
  const rows = rowsOf(0)
  const bodies = {
    JSON: ['application/json', (member: string) => JSON.stringify({ member, endpoints: rows })],
    MessagePack: [
      'application/msgpack',
      (member: string) => new Uint8Array(packr.pack({ member, endpoints: rows })),
    ],
    Parquet: ['application/vnd.apache.parquet', () => new Uint8Array(fingerprintsToParquet(rows))],
  } as const
  const figures: string[][] = []
  const times: Record<string, number[]> = { JSON: [], MessagePack: [], Parquet: [] }
  for (let run = 0; run <= UPLOADS; run += 1) {
    for (const [name, [type, bodyOf]] of Object.entries(bodies)) {
      const member = `${name}-${run}`
      const body = bodyOf(member) as string | Uint8Array<ArrayBuffer>
      const query = name === 'Parquet' ? `?member=${member}` : ''
      const started = performance.now()
      const answer = await fetch(`${url}${TEAM}${query}`, {
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      const { accepted } = (await answer.json()) as { accepted: number }
      if (accepted !== ENDPOINTS) throw new Error(`${name}: ${accepted} accepted`)
      if (run > 0) times[name]?.push(performance.now() - started)
    }
  }
  for (const [name, taken] of Object.entries(times)) {
    figures.push([
      `upload of ${ENDPOINTS} endpoints as ${name}, until it is durable (slowest ${ms(Math.max(...taken))})`,
      ms(median(taken)),
      'under 100 ms',
    ])
  }
  return figures
}

/** What our client sends of an installation with so many endpoints. */
async function spansFigures(url: string): Promise<string[][]> {
  const rows = rowsOf(0).flatMap(row =>
    Array.from({ length: SPANS }, (_, span) => {
      const first_seen_ms = now - (6 * span + 5) * DAY_MS
      return { ...row, first_seen_ms, last_seen_ms: first_seen_ms + 4 * DAY_MS }
    }),
  )
  const times: number[] = []
  for (let run = 0; run <= UPLOADS; run += 1) {
    const body = JSON.stringify({ member: `spans-${run}`, endpoints: rows })
    const started = performance.now()
    const answer = await fetch(`${url}${SPANS_TEAM}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    const { accepted } = (await answer.json()) as { accepted: number }
    if (accepted !== rows.length) throw new Error(`${accepted} of ${rows.length} accepted`)
    if (run > 0) times.push(performance.now() - started)
  }
  return [
    [`the same as JSON with ${SPANS} spans of each, ${rows.length} rows`, ms(median(times)), '–'],
  ]
}

async function readFigures(url: string): Promise<string[][]> {
  const asked = performance.now()
  const first = await fetch(url + TEAM)
  const etag = first.headers.get('etag') ?? ''
  await first.arrayBuffer()
  const firstMs = performance.now() - asked
  const agent = new Agent({ keepAlive: true, maxSockets: READERS })
  const once = () =>
    new Promise<void>((resolve, reject) => {
      request(url + TEAM, { agent, headers: { 'if-none-match': etag } }, response => {
        if (response.statusCode !== 304) reject(new Error(`status ${response.statusCode}`))
        response.resume().once('end', resolve)
      })
        .once('error', reject)
        .end()
    })
  let reads = 0
  const end = performance.now() + READ_MS
  const started = performance.now()
  await Promise.all(
    Array.from({ length: READERS }, async () => {
      while (performance.now() < end) {
        await once()
        reads += 1
      }
    }),
  )
  agent.destroy()
  const perSecond = Math.round((1000 * reads) / (performance.now() - started))
  const members = 3 * (UPLOADS + 1)
  return [
    [
      `the first read after an upload, with ${members} members of ${ENDPOINTS} endpoints to read and merge`,
      ms(firstMs),
      '–',
    ],
    [
      `reads a second with an ETag, ${READERS} at once, client in the same thread`,
      perSecond.toLocaleString('en-US'),
      'over 2,000',
    ],
  ]
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`
}

const rows = [...(await mergeFigures()), ...(await serviceFigures())]
const report = `\`${JSON.stringify({ ...machine(), load: Number(loadavg()[0]?.toFixed(1)), merges: MERGES, uploads: UPLOADS })}\`\n\n${markdownTable(['fingerprints', 'median', 'to reach'], rows)}`
process.stdout.write(`${report}\n`)
writeSection('fingerprints', report)
