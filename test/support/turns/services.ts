import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ServiceProcess, startProcess } from '../service-process.ts'

const COUNT = 2

/** One of the services, by its number. */
export type Which = number

/** What the services said of themselves, summed over processes that are gone as well. */
export type Counts = Readonly<Record<(typeof COUNTERS)[number], number>>

const COUNTERS = [
  'haversack_proxy_prefix_changes_total',
  'haversack_proxy_unrecorded_total',
  'haversack_proxy_untouched_total',
] as const

/** Services with one store, as behind a load balancer. */
export interface Services {
  readonly count: number
  /**
   * Where one of them listens: the wanted one, or while it is away another one; waits if all are.
   */
  url(wanted: Which): Promise<string>
  /**
   * Ends one and starts it anew, from then on with another `pipeline_config.toml` where one is
   * given. Resolves when it listens again. SIGKILL is sent before anything else happens; what it
   * counted since `look` is lost then.
   */
  restart(which: Which, signal: 'SIGTERM' | 'SIGKILL', pipeline?: string): Promise<void>
  /** Has one of them read another `pipeline_config.toml` while it runs. */
  reload(which: Which, pipeline: string): void
  /** Asks all what they counted. */
  look(): Promise<void>
  readonly counts: Counts
  close(): Promise<void>
}

/** The configuration of the upstreams that have names. */
function upstreamsAt(url: string): string {
  return ['gemini', 'bedrock']
    .map(name => `[[proxy.upstreams]]\nname = "${name}"\nurl = "${url}"\ndialect = "${name}"\n`)
    .join('')
}

/**
 * @param options.folder for their store, and for files of their own
 * @param options.pipeline the `pipeline_config.toml` of all at first
 * @param options.rewriteTimeoutMs `proxy.rewrite_timeout_ms`; absent: its default
 */
export async function startServices(options: {
  readonly folder: string
  readonly upstream: string
  readonly pipeline: string
  readonly rewriteTimeoutMs?: number
}): Promise<Services> {
  const { folder, upstream, pipeline, rewriteTimeoutMs } = options
  const fileOf = (which: Which) => join(folder, `pipeline-${which}.toml`)
  const configFile = join(folder, 'config.toml')
  const limit =
    rewriteTimeoutMs === undefined ? '' : `[proxy]\nrewrite_timeout_ms = ${rewriteTimeoutMs}\n`
  writeFileSync(configFile, limit + upstreamsAt(upstream))
  const start = (which: Which): Promise<ServiceProcess> =>
    startProcess({
      env: {
        HAVERSACK_DATA_DIR: join(folder, 'data'),
        HAVERSACK_PIPELINE_CONFIG: fileOf(which),
        HAVERSACK_ANTHROPIC_URL: upstream,
        HAVERSACK_OPENAI_URL: upstream,
        HAVERSACK_CONFIG: configFile,
        HAVERSACK_LOG_LEVEL: 'warn',
      },
    })

  const counts = Object.fromEntries(COUNTERS.map(name => [name, 0])) as Record<
    (typeof COUNTERS)[number],
    number
  >
  const seen = new WeakMap<ServiceProcess, Counts>()
  const current: (ServiceProcess | null)[] = Array(COUNT).fill(null)
  const coming: Promise<ServiceProcess>[] = []

  async function lookAt(service: ServiceProcess): Promise<void> {
    const text = await (await fetch(`${service.url}/metrics`)).text()
    const now = Object.fromEntries(COUNTERS.map(name => [name, sumOf(text, name)])) as Counts
    const last = seen.get(service)
    for (const name of COUNTERS) counts[name] += now[name] - (last?.[name] ?? 0)
    seen.set(service, now)
  }

  async function open(which: Which): Promise<ServiceProcess> {
    const service = await start(which)
    current[which] = service
    return service
  }

  for (let which = 0; which < COUNT; which++) {
    writeFileSync(fileOf(which), pipeline)
    coming[which] = open(which)
  }
  await Promise.all(coming)

  return {
    ...{ count: COUNT, counts },
    async url(wanted) {
      const there = current[wanted] ?? current.find(each => each !== null)
      return (there ?? (await Promise.race(coming))).url
    },
    async restart(which, signal, changed) {
      const service = current[which]
      if (service == null) throw new Error('it is away already')
      if (signal === 'SIGKILL') service.child.kill(signal)
      current[which] = null
      if (changed !== undefined) writeFileSync(fileOf(which), changed)
      coming[which] = (async () => {
        if (signal === 'SIGTERM') {
          await lookAt(service)
          service.child.kill(signal)
        }
        await service.exited
        return await open(which)
      })()
      await coming[which]
    },
    reload(which, pipeline) {
      writeFileSync(fileOf(which), pipeline)
      current[which]?.child.kill('SIGHUP')
    },
    async look() {
      await Promise.all(current.map(async service => service && (await lookAt(service))))
    },
    async close() {
      const services = await Promise.all(coming)
      for (const { child } of services) child.kill('SIGTERM')
      await Promise.all(services.map(({ exited }) => exited))
    },
  }
}

/** The sum of a counter over all its labels. */
function sumOf(metrics: string, name: string): number {
  const lines = metrics.split('\n').filter(line => line.startsWith(name))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
