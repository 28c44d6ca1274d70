import { extname } from 'node:path'
import { type AllLayers, projectKey, readWritten } from '../../config/layers/read-all.ts'
import type { LayersPlace } from '../../config/layers/read-layers.ts'
import type { ConfigAnswer, ConfigOf, ConfigQuery } from '../../core/contract/config.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Generation } from '../../pool/job.ts'
import { createTaskThread } from '../../runtime/task-thread.ts'
import type { TASKS } from './compile.ts'
import { Generations, type GenerationsOptions } from './generations.ts'

/** How the pipeline chooses for each tenant, now and in conversations that began earlier. */
export interface Configurations {
  /**
   * The newest of a tenant, or of its project if that has a file; `undefined`: the one that threads
   * were started with.
   */
  newest(tenant: string, project?: string): Generation | undefined
  /** The id of it. */
  idOf(tenant: string): string
  /** One that a conversation of the tenant began with; `null` if nothing has it any more. */
  find(tenant: string, id: string): Promise<Generation | null>
  /** Makes one durable that a conversation begins with. Never rejects. */
  keep(tenant: string, id: string): Promise<void>
  /** Explains what the files say. @throws AppError `invalid_request`, `overloaded` */
  explain(of: ConfigOf, query: ConfigQuery): Promise<ConfigAnswer>
  /**
   * Reads all files again, in a thread of its own. If one has a fault, nothing changes, and the log
   * says so once. Never rejects.
   */
  reload(): Promise<void>
  /** Whether the files say something else than what is in force, because one has a fault. */
  readonly isStale: boolean
  /** Generations at hand, and their bytes. */
  readonly load: Generations['load']
  close(): Promise<void>
}

export interface ConfigurationsOptions extends GenerationsOptions {
  readonly place: LayersPlace
  /** What was read at the start. */
  readonly first: AllLayers
  readonly logger: Pick<Logger, 'info' | 'warn' | 'error'>
}

/** Whose turn the thread takes: there is only one. */
const SERVICE = 'service'
/**
 * What a reading may take. On a machine under full load large files have taken 10 s, and a reading
 * that is stopped leaves the earlier configuration in force.
 */
const LIMIT_MS = 120_000

export function createConfigurations(options: ConfigurationsOptions): Configurations {
  const { place, first, logger } = options
  const generations = new Generations(options)
  const thread = createTaskThread<typeof TASKS>({
    name: 'configuration',
    module: new URL(`./thread${extname(import.meta.url)}`, import.meta.url),
    limitMs: LIMIT_MS,
    onBug: bug => logger.error({ bug }, 'unexpected error in the thread of configurations'),
    onLost: reason => logger.warn({ reason }, 'the thread of configurations was replaced'),
  })
  let current = first
  /** The faults that were logged last. */
  let reported = ''
  let isStale = false
  /** The reload that is under way, and whether files may have changed since it began. */
  let running: Promise<void> | null = null
  let isAgain = false

  function accept(read: AllLayers): void {
    current = read
    const { common, tenants, projects } = read
    for (const each of [common, ...Object.values(tenants), ...Object.values(projects)]) {
      generations.add(each)
    }
    for (const line of read.warnings) logger.warn({ line }, 'a key of the configuration')
  }

  function report(faults: readonly string[]): void {
    isStale = faults.length > 0
    const text = faults.join('\n')
    if (isStale && text !== reported) {
      logger.error({ faults }, 'configuration not read; what was before stays in force')
    }
    reported = text
  }

  async function compile(): Promise<void> {
    try {
      const read = await thread.run(SERVICE, 'compile', { place, tuned: current.tuned })
      if ('faults' in read) return report(read.faults)
      const isNew = idsOf(read) !== idsOf(current)
      accept(read)
      report(Object.values(read.tunedFaults).flat())
      if (isNew) logger.info({ generation: read.common.id }, 'configuration read again')
    } catch (err) {
      // The thread was lost, or ran into its limit.
      report([err instanceof Error ? err.message : String(err)])
    }
  }

  function inForce(tenant: string, project?: string): Generation {
    const { common, tenants, projects } = current
    const key = project === undefined ? '' : projectKey(tenant, project)
    return own(projects, key) ?? own(tenants, tenant) ?? common
  }

  /** One that is in force for the tenant, by its id. */
  function inForceById(tenant: string, id: string): Generation | undefined {
    if (inForce(tenant).id === id) return inForce(tenant)
    const ofProjects = Object.entries(current.projects)
    return ofProjects.find(([key, each]) => {
      return each.id === id && key.startsWith(projectKey(tenant, ''))
    })?.[1]
  }

  accept(first)
  report(Object.values(first.tunedFaults).flat())
  return {
    newest(tenant, project) {
      const generation = inForce(tenant, project)
      return generation.id === first.common.id ? undefined : generation
    },
    idOf: tenant => inForce(tenant).id,
    find: (tenant, id) => generations.find(tenant, id),
    async keep(tenant, id) {
      const generation = inForceById(tenant, id) ?? (await generations.find(tenant, id))
      if (generation !== null) await generations.keep(tenant, generation)
    },
    async explain({ tenant, project }, query) {
      const of = { tenant, ...(project === undefined ? {} : { project }) }
      const explained = await thread.run(tenant, 'explain', { place, ...of, query })
      return { generation: inForce(tenant, project).id, ...explained }
    },
    async reload() {
      isAgain = true
      running ??= (async () => {
        while (isAgain) {
          isAgain = false
          await compile()
        }
        running = null
      })()
      await running
    },
    get isStale() {
      return isStale
    },
    get load() {
      return generations.load
    },
    close: () => thread.close(),
  }
}

function idsOf({ common, tenants, projects }: AllLayers): string {
  const own = [...Object.entries(tenants), ...Object.entries(projects)]
  return JSON.stringify([common.id, own.map(([name, { id }]) => [name, id])])
}

/** A name may be one that all objects have. */
function own<Value>(record: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** The configuration that threads are started with. */
export function startConfig({ common }: AllLayers): {
  readonly pipeline: PipelineConfig
  readonly generation: string
} {
  return { pipeline: readWritten(common), generation: common.id }
}
