import { extname } from 'node:path'
import { type AllLayers, projectKey, readWritten } from '../../config/layers/read-all.ts'
import type { LayersPlace } from '../../config/layers/read-layers.ts'
import type { ConfigAnswer, ConfigOf, ConfigQuery } from '../../core/contract/config.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import type { Logger } from '../../observability/logger.ts'
import type { Generation } from '../../pool/job.ts'
import { createTaskThread, type TaskThread } from '../../runtime/task-thread.ts'
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

/** The configurations of a service's files. */
export class FileConfigurations implements Configurations {
  readonly #place: LayersPlace
  readonly #firstId: string
  readonly #logger: ConfigurationsOptions['logger']
  readonly #generations: Generations
  readonly #thread: TaskThread<typeof TASKS>
  #current: AllLayers
  /** The faults that were logged last. */
  #reported = ''
  #isStale = false
  /** The reload that is under way, and whether files may have changed since it began. */
  #running: Promise<void> | null = null
  #isAgain = false

  constructor(options: ConfigurationsOptions) {
    const { place, first, logger } = options
    this.#place = place
    this.#firstId = first.common.id
    this.#logger = logger
    this.#current = first
    this.#generations = new Generations(options)
    this.#thread = createTaskThread<typeof TASKS>({
      name: 'configuration',
      module: new URL(`./thread${extname(import.meta.url)}`, import.meta.url),
      limitMs: LIMIT_MS,
      onBug: bug => logger.error({ bug }, 'unexpected error in the thread of configurations'),
      onLost: reason => logger.warn({ reason }, 'the thread of configurations was replaced'),
    })
    this.#accept(first)
    this.#report(Object.values(first.tunedFaults).flat())
  }

  newest(tenant: string, project?: string): Generation | undefined {
    const generation = this.#inForce(tenant, project)
    return generation.id === this.#firstId ? undefined : generation
  }

  idOf(tenant: string): string {
    return this.#inForce(tenant).id
  }

  find(tenant: string, id: string): Promise<Generation | null> {
    return this.#generations.find(tenant, id)
  }

  async keep(tenant: string, id: string): Promise<void> {
    const generation = this.#inForceById(tenant, id) ?? (await this.find(tenant, id))
    if (generation !== null) await this.#generations.keep(tenant, generation)
  }

  async explain({ tenant, project }: ConfigOf, query: ConfigQuery): Promise<ConfigAnswer> {
    const of = { tenant, ...(project === undefined ? {} : { project }) }
    const place = this.#place
    const explained = await this.#thread.run(tenant, 'explain', { place, ...of, query })
    return { generation: this.#inForce(tenant, project).id, ...explained }
  }

  async reload(): Promise<void> {
    this.#isAgain = true
    this.#running ??= (async () => {
      while (this.#isAgain) {
        this.#isAgain = false
        await this.#compile()
      }
      this.#running = null
    })()
    await this.#running
  }

  get isStale(): boolean {
    return this.#isStale
  }

  get load(): Generations['load'] {
    return this.#generations.load
  }

  close(): Promise<void> {
    return this.#thread.close()
  }

  #accept(read: AllLayers): void {
    this.#current = read
    const { common, tenants, projects } = read
    for (const each of [common, ...Object.values(tenants), ...Object.values(projects)]) {
      this.#generations.add(each)
    }
    for (const line of read.warnings) this.#logger.warn({ line }, 'a key of the configuration')
  }

  #report(faults: readonly string[]): void {
    this.#isStale = faults.length > 0
    const text = faults.join('\n')
    if (this.#isStale && text !== this.#reported) {
      this.#logger.error({ faults }, 'configuration not read; what was before stays in force')
    }
    this.#reported = text
  }

  async #compile(): Promise<void> {
    try {
      const { tuned } = this.#current
      const read = await this.#thread.run(SERVICE, 'compile', { place: this.#place, tuned })
      if ('faults' in read) {
        this.#report(read.faults)
        return
      }
      const isNew = idsOf(read) !== idsOf(this.#current)
      this.#accept(read)
      this.#report(Object.values(read.tunedFaults).flat())
      if (isNew) this.#logger.info({ generation: read.common.id }, 'configuration read again')
    } catch (err) {
      // The thread was lost, or ran into its limit.
      this.#report([err instanceof Error ? err.message : String(err)])
    }
  }

  #inForce(tenant: string, project?: string): Generation {
    const { common, tenants, projects } = this.#current
    const key = project === undefined ? '' : projectKey(tenant, project)
    return own(projects, key) ?? own(tenants, tenant) ?? common
  }

  /** One that is in force for the tenant, by its id. */
  #inForceById(tenant: string, id: string): Generation | undefined {
    if (this.#inForce(tenant).id === id) return this.#inForce(tenant)
    const ofProjects = Object.entries(this.#current.projects)
    return ofProjects.find(([key, each]) => {
      return each.id === id && key.startsWith(projectKey(tenant, ''))
    })?.[1]
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
