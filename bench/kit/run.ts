import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '../../test/support/service-process.ts'
import { COLUMNS } from './analyse.ts'
import { outputOf, type Row, type Suite } from './suites.ts'

const LOSSLESS = '[elision]\nenabled = false\n[clearing]\nenabled = false\n'
/** What the service of an arm is set to; `null`: there is none. */
const ARMS: Readonly<Record<string, readonly [config: string, pipeline: string] | null>> = {
  ...{ direct: null, direct_again: null, peer: null },
  passthrough: ['[compression]\nenabled = false\n', LOSSLESS],
  lossless: ['', LOSSLESS],
  clearing: ['', '[elision]\nenabled = false\n[clearing]\nenabled = true\n'],
}
/** What must stand in the counters, so that the arm did what it is named for. */
const PROOFS: Readonly<Record<string, (counters: Counters) => boolean>> = {
  passthrough: ({ exchanges, rewritten }) => exchanges > 0 && rewritten === 0,
  lossless: ({ rewritten }) => rewritten > 0,
  clearing: ({ rewritten, omitted }) => rewritten > 0 && omitted > 0,
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
  serve(arm: string, host: string, upstream: string): Promise<Service>
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
  const version = output(suite.program, ['--version'])
  const checks: readonly (readonly [boolean, string])[] = [
    [!Object.hasOwn(ARMS, arm), `--arm is one of ${Object.keys(ARMS).join(', ')}`],
    [model === '', '--model names the model, as the suite writes it: anthropic/NAME'],
    [
      (env[name] ?? '') === '',
      `--key-env names a variable with the key; ${name || 'it'} is not set`,
    ],
    [arm === 'peer' && peer === '', "--peer is the other proxy's base URL"],
    [version === null, `${suite.program} is not installed: ${suite.install}`],
    [
      suite.program === 'harbor' && version !== null && !version.includes(suite.version),
      `${suite.program} must be ${suite.version}, and is ${version?.trim()}: ${suite.install}`,
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
  const service = ARMS[arm] == null ? null : await tools.serve(arm, host, url)
  try {
    const base = service === null ? (arm === 'peer' ? peer : url) : `${service.url}/anthropic`
    const env = { ...process.env, ANTHROPIC_API_KEY: process.env[name], ANTHROPIC_BASE_URL: base }
    for (const args of suite.commands({ url: base, model, folder })) {
      const code = await tools.run(suite.program, args, env)
      if (code !== 0) throw new Error(`${suite.program} ended with ${code}; run it again to go on`)
    }
    const counters = (await service?.counters()) ?? null
    writeFileSync(file, resultOf(options, suite, suite.rows(folder), counters))
  } finally {
    await service?.close()
  }
  return file
}

/** @throws {Error} if tasks are missing, or the arm did not do what it is named for */
function resultOf(
  { suite: name, arm, model, pass }: KitOptions,
  { program, version, tasks }: Suite,
  rows: readonly Row[],
  counters: Counters | null,
): string {
  const excluded = rows.filter(({ failure }) => failure !== null).map(({ task }) => task)
  const kept = rows.filter(({ failure, steps }) => failure === null && steps > 0)
  if (rows.length < tasks) throw new Error(`${rows.length} of ${tasks} tasks have a result`)
  if (counters !== null && PROOFS[arm]?.(counters) === false) {
    throw new Error(`the arm did nothing of its own: ${JSON.stringify(counters)}`)
  }
  const protocol = readFileSync(new URL('protocol.md', import.meta.url))
  const csv = kept.map(each =>
    [
      arm,
      each.task,
      Number(each.solved),
      each.steps,
      each.cache_read,
      each.cache_write,
      each.usd,
    ].join(','),
  )
  const about = {
    ...{ suite: name, arm, pass, model, [program]: version, date: new Date().toISOString() },
    ...{ protocol: createHash('sha256').update(protocol).digest('hex'), counters, excluded },
  }
  return `${JSON.stringify({ ...about, columns: COLUMNS, rows: csv })}\n`
}

/** A real service on a free port, in a process of its own. */
async function serve(arm: string, host: string, upstream: string): Promise<Service> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-kit-'))
  const [config, pipeline] = [join(folder, 'config.toml'), join(folder, 'pipeline.toml')]
  writeFileSync(config, ARMS[arm]![0])
  writeFileSync(pipeline, ARMS[arm]![1])
  const { child, exited, url } = await startProcess({
    main: fileURLToPath(new URL('reachable-service.ts', import.meta.url)),
    stderr: 2,
    env: {
      ...{ HAVERSACK_CONFIG: config, HAVERSACK_PIPELINE_CONFIG: pipeline, HAVERSACK_HOST: host },
      ...{ HAVERSACK_ANTHROPIC_URL: upstream, HAVERSACK_LOG_LEVEL: 'error' },
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
