import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { type LinesClient, nextNonce } from '../../../bench/mcp/lines-client.ts'
import type { ToolName } from '../../../bench/mcp/results.ts'
import { configSchema } from '../../../src/config/config.ts'
import { serveStdio } from '../../../src/mcp/fronts/stdio-front.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { startEmbedded } from '../../../src/service/embedded/embedded.ts'
import { gatewayFactory } from '../../../src/service/mcp/stdio-gateway.ts'
import { createLocalClient } from './local-client.ts'

export interface SoakOptions {
  readonly calls: number
  /** At the same time, each with processes of its own. */
  readonly clients: number
  /** Calls after which a client vanishes in the middle of three. */
  readonly callsOfClient: number
  /** Between two kills of a server, in milliseconds. */
  readonly killMs: number
}

export interface SoakResult {
  readonly answered: number
  /** Ended with an error, since their server died. */
  readonly failed: number
  /** Answers with another call's nonce. */
  readonly crossed: number
  readonly kills: number
  readonly vanished: number
  /** After garbage collection at the end of each quarter, in MiB. */
  readonly heapMib: readonly number[]
  /** What is left once all clients have gone. */
  readonly left: {
    readonly children: number
    readonly connections: number
    /** Kinds of open handles and timers that were not there before. */
    readonly resources: readonly string[]
  }
}

const TOOLS: readonly ToolName[] = ['tiny', 'rows_4k', 'image_4k', 'tiny', 'rows_4k', 'tiny']

const SERVER = fileURLToPath(new URL('../../../bench/mcp/upstream-server.ts', import.meta.url))

/** What is active for a moment. */
const PASSING = ['Immediate', 'FSReqCallback', 'FSReqPromise']

/** Its server died; or it has not listed its tools yet, since it died while it started. */
const FAILED = /"isError":true|Unknown tool/

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Many calls through gateways in this process, while servers are killed and clients vanish. */
export async function runSoak(options: SoakOptions): Promise<SoakResult> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-mcp-soak-'))
  const config = configSchema.parse({
    data_dir: folder,
    limits: { drain_grace_ms: 0 },
    mcp: {
      servers: { bench: { command: process.execPath, args: [SERVER] } },
    },
  })
  const logger = createLogger('silent')
  const service = await startEmbedded(config, logger)
  const before = process.getActiveResourcesInfo()
  const soak = new Soak(options, gatewayFactory(config, service.deps, { env: process.env, logger }))
  try {
    await soak.run()
    const metrics = await service.deps.metrics.registry.metrics()
    const connections = Number(/^haversack_mcp_connections\{.*\} (\d+)$/m.exec(metrics)?.[1])
    // What an immediate is for, and a file that is written, is over before the next look.
    const resources = process.getActiveResourcesInfo().filter(name => !PASSING.includes(name))
    for (const known of before) {
      const at = resources.indexOf(known)
      if (at !== -1) resources.splice(at, 1)
    }
    const left = { children: childPids().length, connections, resources }
    return { ...soak.result(), left }
  } finally {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

class Soak {
  readonly #options: SoakOptions
  readonly #createGateway: ReturnType<typeof gatewayFactory>
  readonly #counts = { answered: 0, failed: 0, crossed: 0, kills: 0, vanished: 0 }
  readonly #heapMib: number[] = []
  #started = 0

  constructor(options: SoakOptions, createGateway: ReturnType<typeof gatewayFactory>) {
    this.#options = options
    this.#createGateway = createGateway
  }

  result() {
    return { ...this.#counts, heapMib: this.#heapMib }
  }

  async run(): Promise<void> {
    const { clients, killMs } = this.#options
    const killer = setInterval(() => this.#killOne(), killMs)
    await Promise.all(Array.from({ length: clients }, () => this.#useClients()))
    clearInterval(killer)
    this.#measure()
  }

  /** One client after another. */
  async #useClients(): Promise<void> {
    const { calls, callsOfClient } = this.#options
    while (this.#started < calls) {
      const client = createLocalClient()
      const stop = new AbortController().signal
      const { input, output } = client
      const served = serveStdio(input, output, {
        ...{ stop, version: '0', createGateway: this.#createGateway },
      })
      await client.initialize()
      for (let i = 0; i < callsOfClient && this.#started < calls; i++) await this.#call(client)
      // Three calls are under way, one of which is never answered.
      for (const tool of ['hang', 'rows_4k', 'tiny']) void client.request('tools/call', named(tool))
      await new Promise(setImmediate)
      client.vanish()
      this.#counts.vanished++
      await served
    }
  }

  async #call(client: LinesClient): Promise<void> {
    const tool = TOOLS[this.#started % TOOLS.length] as ToolName
    if (++this.#started % Math.ceil(this.#options.calls / 4) === 0) this.#measure()
    const nonce = nextNonce()
    const answer = await client.request('tools/call', named(tool, nonce))
    if (answer.includes(nonce)) this.#counts.answered++
    else if (FAILED.test(answer.toString('latin1', 0, 200))) this.#counts.failed++
    else this.#counts.crossed++
  }

  #measure(): void {
    if (this.#heapMib.length === 4) return
    collect()
    this.#heapMib.push(process.memoryUsage().heapUsed / 2 ** 20)
  }

  #killOne(): void {
    const pids = childPids()
    const pid = pids[this.#counts.kills % Math.max(1, pids.length)]
    if (pid === undefined) return
    process.kill(pid, 'SIGKILL')
    this.#counts.kills++
  }
}

function named(tool: string, nonce = nextNonce()): string {
  return `{"name":"${tool}","arguments":{"nonce":"${nonce}"}}`
}

/** Children of this process, as Linux knows them; the newest last. */
function childPids(): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => parentOf(pid) === process.pid)
}

/** 0 if it has ended meanwhile. */
function parentOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
  } catch {
    return 0
  }
}
