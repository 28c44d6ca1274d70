import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import type { ResultRow } from '../src/core/contract/result-row.ts'
import { createLedger, type Ledger } from '../src/ledger/ledger.ts'
import { endWithThis } from '../test/support/end-with-this.ts'
import { paintsOf } from './page/browser.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { readOptions } from './support/options.ts'
import { median, percentile } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- page [--rounds N --write]
 *
 * The page over a full ledger: how long each page's HTML takes, what a first visit transfers, when
 * Chromium first paints it and what its scripts take, and what the ledger costs a result. Prints Markdown; `--write` puts it into bench/README.md.
 */
const options = readOptions({ rounds: 50, write: false })

const RESULTS = 100_000
const CONVERSATIONS = 1_000
const TOOLS = 40
/** Results between two writes, as a busy service has them in a second. */
const TOGETHER = 2_000
const WINDOW_MS = 6 * 86_400_000
const SHARED_MS = 1_050
const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))

const folder = mkdtempSync(join(tmpdir(), 'haversack-page-'))

/** Some conversations at a time, as a team has them. */
const AT_ONCE = 20

function conversationOf(at: number): number {
  const each = (RESULTS / CONVERSATIONS) * AT_ONCE
  return Math.floor(at / each) * AT_ONCE + (at % AT_ONCE)
}

function rowOf(at: number): string {
  const row: ResultRow = {
    tool: `tool-${(at * 7919) % TOOLS}`,
    class: `class-${at % 12}`,
    shape: ['array_of_objects', 'prose', 'numbered_list'][at % 3]!,
    layer: 'L1',
    format: ['csv@1', 'tree@2', 'passthrough'][at % 3]!,
    view: null,
    tokenizer: 'o200k_base',
    exact: true,
    before: 500 + (at % 900),
    referred: at % 90,
    encoded: at % 110,
    omitted: 0,
    session: String(conversationOf(at)).padStart(16, '0'),
    original: at.toString(16).padStart(64, '0'),
    reason: null,
  }
  return JSON.stringify(row)
}

/** Fills a ledger, and gives the processor time of a result in its second half, in microseconds. */
async function fill(ledger: Ledger): Promise<number> {
  const rows = Array.from({ length: RESULTS }, (_, at) => rowOf(at))
  const first = Date.now() - WINDOW_MS
  let before = process.cpuUsage()
  for (let at = 0; at < RESULTS; at++) {
    const when = first + (WINDOW_MS * at) / RESULTS
    ledger.result({ tenant: 'local', at: Math.floor(when), source: 'encode', row: rows[at]! })
    if (at % TOGETHER === TOGETHER - 1) await ledger.item('local', 0)
    if (at === RESULTS / 2) before = process.cpuUsage()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / (RESULTS / 2)
}

async function fillFolder(): Promise<number> {
  const fail = (problem: unknown) => {
    throw new Error(String(problem))
  }
  const ledger = createLedger({
    folder,
    limits: { max_rows: RESULTS, max_bytes: 2 ** 30, ttl_ms: 7 * 86_400_000 },
    now: Date.now,
    onUnwritten: fail,
    onDropped: fail,
    onBug: fail,
  })
  const cost = await fill(ledger)
  await ledger.close()
  return cost
}

const PAGES = [
  ['Overview, 24 hours', '/ui'],
  ['Overview, 7 days', '/ui?window=7d'],
  ['Tools, 7 days', '/ui/tools?window=7d'],
  ['Conversations', '/ui/conversations'],
  ['A conversation', `/ui/conversations/${'7'.padStart(16, '0')}`],
  ['A result', '/ui/results/50000'],
  ['Service', '/ui/service'],
] as const

async function timesOf(url: string): Promise<string[][]> {
  const times = PAGES.map((): number[] => [])
  const sizes: number[] = []
  for (let round = 0; round < options.rounds; round++) {
    for (const [index, [, path]] of PAGES.entries()) {
      const started = performance.now()
      const answer = await fetch(url + path)
      const text = await answer.text()
      times[index]!.push(performance.now() - started)
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
      sizes[index] = gzipSync(text).length
    }
    // Pages that ask for the same within a second share one read. These do not.
    await sleep(SHARED_MS)
  }
  return PAGES.map(([name], index) => [
    name,
    median(times[index]!).toFixed(1),
    percentile(times[index]!, 0.95).toFixed(1),
    (sizes[index]! / 1024).toFixed(1),
  ])
}

async function assetsOf(url: string): Promise<number> {
  const sizes = ['style.css', 'live.js', 'icon.svg'].map(async name => {
    const answer = await fetch(`${url}/ui/${name}`)
    return gzipSync(await answer.text()).length
  })
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

try {
  const cost = await fillFolder()
  const child = spawn(process.execPath, [MAIN], {
    env: { ...process.env, HAVERSACK_PORT: '0', HAVERSACK_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const exited = once(endWithThis(child), 'exit')
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const url = String(line).replace('haversack listens on ', '')
  const rows = await timesOf(url)
  const assets = await assetsOf(url)
  const paints = await paintsOf(url, PAGES)
  const { node, cores, cpu, date } = machine()
  child.kill('SIGTERM')
  await exited
  const text = [
    `Node ${node}, ${cores} cores of an ${cpu}, ${date}. ${RESULTS.toLocaleString('en')} results, ${CONVERSATIONS.toLocaleString('en')} conversations.`,
    '',
    markdownTable(
      ['page', 'HTML p50 ms', 'p95 ms', 'gzip KiB', 'first paint ms', 'heap MiB'],
      rows.map((row, index) => [...row, ...(paints[index] ?? [])]),
    ),
    '',
    `The stylesheet, the script and the icon are ${(assets / 1024).toFixed(1)} KiB with gzip. Once warm, the ledger takes ${cost.toFixed(1)} µs of processor time a result, in both of its threads.`,
  ].join('\n')
  process.stdout.write(`${text}\n`)
  if (options.write) writeSection('The page', text)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
