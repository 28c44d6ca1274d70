import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAccounts, NO_ACCOUNT } from '../../book/bill/account.ts'
import type { RefusedRequest } from '../../book/bill/answered-request.ts'
import { figuresOf, type SavingsFigures } from '../../book/bill/figures.ts'
import { createSavings } from '../../book/bill/savings.ts'
import type { Config } from '../../config/config.ts'
import type { Env } from '../../config/env.ts'
import { layersInProject } from '../../config/layers/project-file.ts'
import { type LayersPlace, pipelineFileOf } from '../../config/layers/read-layers.ts'
import { repositoryName } from '../../config/layers/repository.ts'
import { loadConfig } from '../../config/load.ts'
import { upstreamFault } from '../../config/url-fault.ts'
import {
  type DialectName,
  dialects,
  OWN_DIALECTS,
  type OwnDialectName,
} from '../../core/dialects/lookup.ts'
import { makeFolder } from '../../files/make-folder.ts'
import type { Logger } from '../../observability/logger.ts'
import { createMetrics, type Metrics } from '../../observability/metrics.ts'
import { TEXTS_SAID_FILE } from '../../runtime/data-files.ts'
import { openConfiguredBook } from '../../service/book/book.ts'
import { LATE_THREADS } from '../../service/builders.ts'
import { startService } from '../../service/service.ts'
import { programName } from './agent-settings.ts'

/** A service for one command, in this process. */
export interface OwnService {
  /** The proxies are below it, and cannot be found without it. */
  readonly url: string
  /** Where the requests to Anthropic go. */
  readonly anthropicUrl: string
  /** The upstreams that have names. */
  readonly upstreams: readonly NamedUpstream[]
  /** Whether results may lose parts. */
  readonly elides: boolean
  /** Whether both sides of results are kept, and the user was not told of that before. */
  readonly beginsTexts: boolean
  /** What was saved so far, and why requests were left as they were, by how often. */
  saved(): Promise<Saved>
  /** Notes an error that nothing caught; requests are forwarded unchanged from then on. */
  noteUncaught(error: unknown): void
  close(): Promise<void>
}

export interface Saved {
  readonly figures: SavingsFigures
  readonly untouched: Readonly<Record<string, number>>
  /** Requests that got a cache breakpoint. */
  readonly placed: number
  /** Model requests that no vendor answered, each. */
  readonly refused: readonly RefusedRequest[]
}

export interface OwnServiceOptions {
  /** The environment, with the upstreams that take precedence over the configuration's. */
  readonly env: Env
  /**
   * Folder for the proxies' data; made for this process and removed at its end if `isTemporary`.
   */
  readonly folder: string
  readonly isTemporary: boolean
  logger(level: Config['log']['level']): Logger
  /**
   * `true`: large results lose parts, which the proxy fetches back if the model asks. `false`:
   * nothing leaves. Absent: old results leave at pauses unless the configuration says otherwise.
   */
  readonly elides?: boolean | undefined
  /** Whether what is saved is added to the user's ledger. */
  readonly hasLedger: boolean
  /** Whether both sides of results are kept there. */
  readonly keepsTexts: boolean
  /** The program that is run. */
  readonly program: string
}

/** An agent waits for an answer before it asks again, and has a few helpers at most. */
const MAX_THREADS = 2

/** Time for requests of other processes after the command has ended, in milliseconds. */
const DRAIN_MS = 1_000

/** 128 random bits: a path that other users of this machine cannot guess. */
const PATH_BYTES = 16

/**
 * Starts the vendor proxies on a free port of this machine, and nothing else of the service.
 * @throws ConfigError, and what else keeps the service from starting
 */
export async function startOwnService(options: OwnServiceOptions): Promise<OwnService> {
  const config = configFor(options)
  const { data_dir: userFolder, store } = loadConfig({ env: options.env, insecure: true })
  const path = `/${randomBytes(PATH_BYTES).toString('hex')}`
  let metrics: Metrics | undefined
  let account = NO_ACCOUNT
  const refused: RefusedRequest[] = []
  const service = await startService(config, {
    proxiesBelow: path,
    logger: options.logger(config.log.level),
    builders: {
      layersPlaceOf: () => layersFor(options),
      openConfiguredBook: (own, terms, reports) =>
        openConfiguredBook(
          { ...own, store },
          {
            ...terms,
            folder: userFolder,
            origin: {
              project: repositoryName(process.cwd()),
              agent: programName(options.program),
              way: 'run',
            },
          },
          reports,
        ),
      // It ends with its command, so each one would analyze all logs again.
      openAutoTune: () => ({ close: () => Promise.resolve() }),
      // The agent should start at once, and has no results for its first request.
      ...LATE_THREADS,
      createMetrics(gauges) {
        metrics = createMetrics(gauges)
        return metrics
      },
      createSavings: savingsOptions =>
        createSavings({
          ...savingsOptions,
          onRow(row) {
            account = addAccounts(account, row.account)
            savingsOptions.onRow(row)
          },
          onRefused: each => void refused.push(each),
        }),
    },
  })
  return {
    url: service.url + path,
    anthropicUrl: config.proxy.anthropic_url,
    upstreams: config.proxy.upstreams,
    elides: config.proxy.redeem === 'auto',
    beginsTexts: config.ledger.enabled && config.ui.keep_texts === 'on' && isUnsaid(userFolder),
    saved: async () => ({
      figures: figuresOf(account),
      placed: (await countsBy(metrics, 'haversack_levers_total', 'lever'))['place'] ?? 0,
      untouched: await countsBy(metrics, 'haversack_proxy_untouched_total', 'reason'),
      refused,
    }),
    noteUncaught(error) {
      service.forwardPlainly()
      service.noteUncaught(error)
    },
    close: () => service.close(),
  }
}

/** Whether its user was not told that texts are kept; from now on they were. */
function isUnsaid(userFolder: string): boolean {
  try {
    makeFolder(userFolder)
    writeFileSync(join(userFolder, TEXTS_SAID_FILE), '', { flag: 'wx', mode: 0o600 })
    return true
  } catch {
    // It is there, or nothing can be kept either.
    return false
  }
}

/** Where `serve` would find its files. */
function layersFor({ env, elides }: OwnServiceOptions): LayersPlace {
  const { data_dir, pipeline_config_file } = loadConfig({ env, insecure: true })
  // Tools of the agent fetch from other stores.
  const place: LayersPlace = {
    data_dir,
    pipeline_config_file,
    ownTools: [],
    placesBreakpoints: true,
    elides: elides === true,
  }
  return layersInProject(place, process.cwd())
}

/** The base URLs that are configured, else those that the vendors' own clients have built in. */
function urlsOf(proxy: Readonly<Record<string, unknown>>) {
  const urls = OWN_DIALECTS.map(({ name, host }) => {
    const key = `${name}_url`
    return [key, proxy[key] ?? `https://${host}`]
  })
  return Object.fromEntries(urls) as Readonly<Record<`${OwnDialectName}_url`, string>>
}

function configFor(options: OwnServiceOptions) {
  const { env, folder, isTemporary, elides, hasLedger, keepsTexts } = options
  // Its path protects it: agents cannot be made to send a key.
  const { keys_file: _, ...config } = loadConfig({ env, overrides: { host: '127.0.0.1', port: 0 } })
  const { limits, proxy, store, workers } = config
  const pipelineFile = pipelineFileOf(config)
  return {
    ...config,
    data_dir: folder,
    ledger: { ...config.ledger, enabled: config.ledger.enabled && hasLedger },
    ui: { keep_texts: keepsTexts ? (config.ui.keep_texts ?? 'on') : 'off' },
    // As `serve` would find it.
    ...(existsSync(pipelineFile) ? { pipeline_config_file: pipelineFile } : {}),
    proxy: {
      ...proxy,
      ...urlsOf(proxy),
      redeem: (elides ?? proxy.redeem !== 'off') ? ('auto' as const) : ('off' as const),
      upstreams: [...namedUpstreams(env, proxy.upstreams)],
    },
    workers: { ...workers, count: Math.min(workers.count, MAX_THREADS) },
    limits: {
      ...limits,
      drain_grace_ms: 0,
      drain_timeout_ms: Math.min(limits.drain_timeout_ms, DRAIN_MS),
    },
    // If the process is killed, the folder remains. Encryption keeps its content unreadable.
    store: isTemporary ? temporaryStore(store) : store,
  }
}

/** A file of this process alone, whatever store others share. */
function temporaryStore({ redis: _, ...store }: Config['store']): Config['store'] {
  return { ...store, encryption_keys: [{ id: 'run', key: randomBytes(32) }] }
}

/** The sums of a counter by one of its labels. */
async function countsBy(
  metrics: Metrics | undefined,
  name: string,
  label: string,
): Promise<Record<string, number>> {
  const metric = await metrics?.registry.getSingleMetric(name)?.get()
  const counts: Record<string, number> = {}
  for (const { labels, value } of metric?.values ?? []) {
    const key = String(labels[label])
    counts[key] = (counts[key] ?? 0) + value
  }
  return counts
}

export type NamedUpstream = Config['proxy']['upstreams'][number]

/** APIs without a route of their own, whose base URL a variable of the environment has. */
const NAMED_APIS = dialects.flatMap(({ name, client }) =>
  client === undefined ? [] : [{ name, dialect: name as DialectName, ...client }],
)

/**
 * The upstreams of these APIs. What the environment names takes precedence over what is configured,
 * and that over defaults.
 * @throws Error for a base URL that is not a URL
 */
export function namedUpstreams(
  env: Env,
  configured: readonly NamedUpstream[],
): readonly NamedUpstream[] {
  const own = NAMED_APIS.flatMap(({ variable, name, dialect, byDefault, signedWith }) => {
    const given = env[variable] || null
    const fault = given === null ? null : upstreamFault(given)
    if (fault !== null) throw new Error(`${variable} ${fault}`)
    const isConfigured = configured.some(each => each.name === name)
    const url = given ?? (isConfigured ? null : byDefault(env))
    if (url === null) return []
    const aws = signedWith?.(env)
    const signed = aws === undefined ? {} : { aws }
    return [{ name, dialect, url: url.replace(/\/$/, ''), ...signed }]
  })
  return [...configured.filter(({ name }) => !own.some(each => each.name === name)), ...own]
}

/** The variables with the base URLs that the command uses, with a proxy at `url`. */
export function namedBaseUrls(url: string, upstreams: readonly NamedUpstream[]): Env {
  const served = NAMED_APIS.filter(({ name }) => upstreams.some(each => each.name === name))
  return Object.fromEntries(served.map(({ variable, name }) => [variable, `${url}/up/${name}`]))
}
