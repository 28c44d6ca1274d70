import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeBodies } from '../service/bodies.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { load, startServer } from '../support/processes.ts'
import { median } from '../support/statistics.ts'

const ROUNDS = 6
const SECONDS = 4
const CONNECTIONS = 8
const RELOADS = 3
const TENANTS = 5
const OVERRIDES = 200
const ASK_MS = 10
const GIVE_UP_MS = 60_000

interface Round {
  readonly reloads: number
  readonly requests: number
  readonly errors: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
}

/**
 * Reloads under full load: when a new conversation first gets the new configuration, which requests
 * fail, and how long requests wait in rounds with and without reloads, in turn.
 */
export async function reloadTable(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-reload-'))
  const file = join(folder, 'pipeline_config.toml')
  writeConfig(file, 0)
  const server = await startServer('../src/main.ts', {
    ...{ HAVERSACK_PORT: '0', HAVERSACK_LOG_LEVEL: 'silent', HAVERSACK_DATA_DIR: folder },
    HAVERSACK_PIPELINE_CONFIG: file,
  })
  const bodies = encodeBodies(folder, 4096, 32)
  const { port, pid } = server
  const plan = { port, path: '/v1/encode', method: 'POST', bodies } as const
  const actsAfter: number[] = []
  const rounds: Round[] = []
  let version = 0
  try {
    await load({ ...plan, connections: CONNECTIONS, seconds: 2 })
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const reloads = round % 2 === 0 ? RELOADS : 0
      const running = load({ ...plan, connections: CONNECTIONS, seconds: SECONDS })
      for (let n = 0; n < reloads; n++) {
        await sleep((SECONDS * 1_000) / (RELOADS + 2))
        writeConfig(file, ++version)
        const sentAt = performance.now()
        process.kill(pid, 'SIGHUP')
        while ((await versionOf(port)) !== version % 2) {
          if (performance.now() - sentAt > GIVE_UP_MS) throw new Error('a reload has no effect')
          await sleep(ASK_MS)
        }
        actsAfter.push(performance.now() - sentAt)
      }
      const { requests, errors, p50_ms, p99_ms, max_ms } = await running
      rounds.push({ reloads, requests, errors, p50_ms, p99_ms, max_ms })
    }
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  return [tableOf(rounds), actsLine(actsAfter)].join('\n\n')
}

/** The common file and those of tenants, with as many overrides each. */
function writeConfig(file: string, version: number): void {
  const lines = Array.from(
    { length: OVERRIDES },
    (_, n) => `[endpoint_overrides.tool_${n}]\nlru_size = ${1 + ((n + version) % 50)}`,
  )
  const format = version % 2 === 0 ? 'tree' : 'json_compact'
  const text = `${lines.join('\n')}\n[endpoint_overrides.probe]\nformats = ["${format}"]\n`
  const tenants = join(file, '..', 'tenants')
  mkdirSync(tenants, { recursive: true })
  for (let tenant = 0; tenant < TENANTS; tenant++) {
    writeFileSync(join(tenants, `tenant-${tenant}.toml`), text)
  }
  writeFileSync(file, text)
}

/** 0 or 1, by the format in which a table is written. */
async function versionOf(port: number): Promise<number> {
  const rows = Array.from({ length: 12 }, (_, id) => ({ id, name: `row ${id}`, ok: true }))
  const response = await fetch(`http://127.0.0.1:${port}/v1/encode`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ tool: 'probe', content: JSON.stringify(rows, null, 2) }),
  })
  const { format } = (await response.json()) as { readonly format: string }
  return format.startsWith('tree') ? 0 : 1
}

function tableOf(rounds: readonly Round[]): string {
  const rows = [RELOADS, 0].map(reloads => {
    const own = rounds.filter(each => each.reloads === reloads)
    const of = (name: 'p50_ms' | 'p99_ms' | 'max_ms') =>
      median(own.map(each => each[name])).toFixed(1)
    const errors = own.reduce((sum, each) => sum + each.errors, 0)
    const requests = own.reduce((sum, each) => sum + each.requests, 0)
    return [reloads, own.length, requests, errors, of('p50_ms'), of('p99_ms'), of('max_ms')]
  })
  const head = ['reloads a round', 'rounds', 'requests', 'failed', 'p50 ms', 'p99 ms', 'max ms']
  return markdownTable(head, rows)
}

function actsLine(actsAfter: readonly number[]): string {
  const most = Math.max(...actsAfter)
  return (
    `A new request has the new configuration ${median(actsAfter).toFixed(0)} ms after SIGHUP ` +
    `(median of ${actsAfter.length}; at most ${most.toFixed(0)} ms), with ${OVERRIDES} overrides in the ` +
    'common file and in those of five tenants.'
  )
}
