import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../test/support/service-process.ts'
import { COLUMNS } from './analyse.ts'
import { outputOf, type Row, type Suite } from './suites.ts'

/** What the service of an arm is set to, and what its counters must say after a pass. */
interface Arm {
  readonly config: string
  readonly pipeline: string
  didItsWork(counters: Counters): boolean
}

const LOSSLESS = '[elision]\nenabled = false\n[clearing]\nenabled = false\n'
/** `null`: without a service. */
const ARMS: Readonly<Record<string, Arm | null>> = {
  ...{ direct: null, direct_again: null, peer: null },
  passthrough: {
    ...{ config: '[compression]\nenabled = false\n', pipeline: LOSSLESS },
    didItsWork: ({ exchanges, rewritten }) => exchanges > 0 && rewritten === 0,
  },
  lossless: {
    ...{ config: '', pipeline: LOSSLESS },
    didItsWork: ({ rewritten, omitted }) => rewritten > 0 && omitted === 0,
  },
  clearing: {
    ...{ config: '', pipeline: '[elision]\nenabled = false\n[clearing]\nenabled = true\n' },
    didItsWork: ({ rewritten, omitted }) => rewritten > 0 && omitted > 0,
  },
}

export interface Counters {
  readonly exchanges: number
  readonly rewritten: number
  readonly omitted: number
}

export interface KitOptions {
  readonly suite: string
  readonly arm: string
  readonly model: string
  readonly 'key-env': string
  /** Of this machine, as containers reach it. */
  readonly address: string
  /** Base URL of the provider, and of the arm `peer`. */
  readonly url: string
  readonly peer: string
  readonly folder: string
  readonly pass: number
}

/** What the kit does outside its process. */
export interface Tools {
  output(program: string, args: readonly string[]): string | null
  /** @returns the exit code */
  run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number>
  /** @param port of a pass that goes on; 0: a free one */
  serve(arm: string, host: string, upstream: string, port: string): Promise<Service>
}

interface Service {
  readonly url: string
  counters(): Promise<Counters>
  close(): Promise<void>
}

/** What is missing for a run, a plain sentence each. */
export function missingFor(
  options: KitOptions,
  suite: Suite,
  { output }: Tools,
  env = process.env,
) {
  const { arm, model, address, peer, 'key-env': name } = options
  const own = Object.values(networkInterfaces()).flatMap(
    all => all?.map(each => each.address) ?? [],
  )
  const said = output(suite.program, suite.probe)
  const checks: readonly (readonly [boolean, string])[] = [
    [!Object.hasOwn(ARMS, arm), `--arm is one of ${Object.keys(ARMS).join(', ')}`],
    [model === '', '--model names the model, as the suite writes it: anthropic/NAME'],
    [
      (env[name] ?? '') === '',
      `--key-env names a variable with the key; ${name || 'it'} is not set`,
    ],
    ...suite.variables.map(
      each =>
        [(env[each] ?? '') === '', `${each} is not set; ${suite.program} grades with it`] as const,
    ),
    [arm === 'peer' && peer === '', "--peer is the other proxy's base URL"],
    [said === null, `${suite.program} is not installed: ${suite.install}`],
    [
      suite.program === 'harbor' && said !== null && !said.includes(suite.version),
      `${suite.program} must be ${suite.version}, and is ${said?.trim()}: ${suite.install}`,
    ],
    [
      suite.inDocker && output('docker', ['info']) === null,
      'Docker does not answer: start it, and log in with docker login (50 images are pulled)',
    ],
    [
      suite.inDocker && ARMS[arm] != null && (!own.includes(address) || address.startsWith('127.')),
      '--address is an address of this machine that containers reach (hostname -I), not 127.0.0.1',
    ],
  ]
  return checks.flatMap(([isMissing, what]) => (isMissing ? [what] : []))
}

/** Runs one pass of an arm, or goes on with it; a pass that is done stays. @returns its file */
export async function runPass(options: KitOptions, suite: Suite, tools: Tools): Promise<string> {
  const { arm, url, peer, address, model, 'key-env': name } = options
  const folder = join(options.folder, options.suite, arm, `pass-${options.pass}`)
  const file = join(folder, 'result.json')
  if (existsSync(file)) return file
  mkdirSync(folder, { recursive: true })
  const host = suite.inDocker ? address : '127.0.0.1'
  const portFile = join(folder, 'port')
  const port = existsSync(portFile) ? readFileSync(portFile, 'utf8') : '0'
  const service = ARMS[arm] == null ? null : await tools.serve(arm, host, url, port)
  if (service !== null) writeFileSync(portFile, new URL(service.url).port)
  let counters: Counters | null = null
  try {
    const base = service === null ? (arm === 'peer' ? peer : url) : `${service.url}/anthropic`
    // With ANTHROPIC_BASE_URL of its own Harbor leaves the provider in front of the model's name.
    const { ANTHROPIC_BASE_URL: _, ...own } = process.env
    const env = { ...own, ANTHROPIC_API_KEY: process.env[name] }
    for (const args of suite.commands({ url: base, provider: url, model, folder })) {
      const code = await tools.run(suite.program, args, env)
      if (code !== 0) throw new Error(`${suite.program} ended with ${code}; run it again to go on`)
    }
  } finally {
    try {
      if (service !== null) counters = addTo(join(folder, 'counters'), await service.counters())
    } finally {
      await service?.close()
    }
  }
  writeFileSync(file, resultOf(options, suite, suite.rows(folder), counters))
  return file
}

/** The service of each go at a pass counts from 0. @returns the sums */
function addTo(file: string, counted: Counters): Counters {
  const before = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const sums: Record<string, number> = { ...counted }
  for (const name of Object.keys(before)) sums[name]! += before[name]
  writeFileSync(file, JSON.stringify(sums))
  return { ...counted, ...sums }
}

/** @throws {Error} if tasks are missing, or the arm did not do what it is named for */
function resultOf(
  { suite: name, arm, model, pass }: KitOptions,
  { program, version, tasks }: Suite,
  rows: readonly Row[],
  counters: Counters | null,
): string {
  const isKept = ({ failure, steps }: Row) => failure === null && steps > 0
  const kept = rows.filter(isKept)
  const excluded = rows.filter(each => !isKept(each)).map(({ task }) => task)
  if (rows.length < tasks) throw new Error(`${rows.length} of ${tasks} tasks have a result`)
  if (counters !== null && !ARMS[arm]!.didItsWork(counters)) {
    throw new Error(`the arm did nothing of its own: ${JSON.stringify(counters)}`)
  }
  const protocol = readFileSync(new URL('protocol.md', import.meta.url))
  const csv = kept.map(({ task, solved, steps, cache_read, cache_write, usd }) =>
    [arm, task, Number(solved), steps, cache_read, cache_write, usd].join(','),
  )
  const about = {
    ...{ suite: name, arm, pass, model, [program]: version, date: new Date().toISOString() },
    ...{ protocol: createHash('sha256').update(protocol).digest('hex'), counters, excluded },
  }
  return `${JSON.stringify({ ...about, columns: COLUMNS, rows: csv })}\n`
}

/** A real service in a process of its own. */
async function serve(arm: string, host: string, upstream: string, port: string): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-kit-'))
  const [config, pipeline] = [join(folder, 'config.toml'), join(folder, 'pipeline.toml')]
  writeFileSync(config, ARMS[arm]!.config)
  writeFileSync(pipeline, ARMS[arm]!.pipeline)
  const { child, exited, url } = await startProcess({
    main: fileURLToPath(new URL('reachable-service.ts', import.meta.url)),
    stderr: 2,
    env: {
      ...{ HAVERSACK_CONFIG: config, HAVERSACK_PIPELINE_CONFIG: pipeline, HAVERSACK_HOST: host },
      ...{ HAVERSACK_ANTHROPIC_URL: upstream, HAVERSACK_LOG_LEVEL: 'error' },
      HAVERSACK_PORT: port,
    },
  })
  return {
    url,
    async counters() {
      return readCounters(await (await fetch(`${url}/metrics`)).text())
    },
    async close() {
      child.kill('SIGTERM')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export function readCounters(metrics: string): Counters {
  const sum = (name: string, label = '') =>
    metrics
      .split('\n')
      .filter(line => line.startsWith(`haversack_proxy_${name}_total{`) && line.includes(label))
      .reduce((all, line) => all + Number(line.slice(line.lastIndexOf(' '))), 0)
  return {
    exchanges: sum('exchanges'),
    rewritten: sum('texts', 'result="rewritten"'),
    omitted: sum('tokens_saved', 'by="omission"'),
  }
}

export const REAL_TOOLS: Omit<Tools, 'run'> = { output: outputOf, serve }
