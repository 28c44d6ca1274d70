import { hash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TENANT_NAME } from '../../core/base/tenant-name.ts'
import type { LayerSettings, PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import { ConfigError } from '../read-toml.ts'
import { type FileLayer, parseLayer, readLayerFile } from './layer-file.ts'
import { mergeLayers } from './merge-layers.ts'

/** Where the files are, beside those of projects. */
export interface LayersPlace {
  readonly data_dir: string
  /** `pipeline_config.toml` in `data_dir` if absent. */
  readonly pipeline_config_file?: string | undefined
  /** The tools, as requests name them, that fetch what was left out; instead of all layers'. */
  readonly ownTools?: readonly string[]
  /** Whether cache breakpoints are placed unless a layer says otherwise. */
  readonly placesBreakpoints?: true
  /** Whether proxies elide new results unless a layer says otherwise. */
  readonly elides?: boolean
  /** The project's file; absent: there is none. */
  readonly project?: string | undefined
  /** The files in the data folder came with a repository, so they say no more than a project's. */
  readonly isOfRepository?: boolean
}

/** Whose configuration is read. */
export interface LayersOf {
  /** Absent: no tenant's files are read. */
  readonly tenant?: string | undefined
  /** The name of one of the tenant's projects, which has a file. */
  readonly project?: string | undefined
  /** The text of the tuned file when it had no faults, which is in force if it has some now. */
  readonly tunedBefore?: string | undefined
}

/** A configuration, and what it was made of. */
export interface Layered {
  readonly pipeline: PipelineConfig
  /** Names what the layers say: 16 hex digits. */
  readonly generation: string
  /** In their order: later ones take precedence. */
  readonly layers: readonly FileLayer[]
  /** What a user should know of their keys; a line each. */
  readonly warnings: readonly string[]
  /** Why the tuned file has no effect; a line each. */
  readonly tunedFaults: readonly string[]
}

/** Folders of files by tenant. */
export const TUNED_FOLDER = 'tuned'
export const TENANTS_FOLDER = 'tenants'
/** A folder for each tenant, with a file for each of its projects. */
export const PROJECTS_FOLDER = 'projects'

const FILE_NAME = 'pipeline_config.toml'
const GENERATION_DIGITS = 16

/** Where the common file is, or would be. */
export function pipelineFileOf({ data_dir, pipeline_config_file }: LayersPlace): string {
  return pipeline_config_file ?? join(data_dir, FILE_NAME)
}

/** The file that `tune` writes for a tenant. */
function tunedFileOf({ data_dir }: LayersPlace, tenant: string): string {
  return join(data_dir, TUNED_FOLDER, `${tenant}.toml`)
}

/** The file of a tenant's own settings, beside the common one. */
function tenantFileOf(place: LayersPlace, tenant: string): string {
  return join(dirname(pipelineFileOf(place)), TENANTS_FOLDER, `${tenant}.toml`)
}

/** The files of a tenant's projects, beside the common one. */
export function projectsFolderOf(place: LayersPlace, tenant: string): string {
  return join(dirname(pipelineFileOf(place)), PROJECTS_FOLDER, tenant)
}

/**
 * Reads the layers of a configuration. A tuned file with faults has no effect, because no person
 * wrote it: what it said before stays in force.
 * @throws ConfigError with every fault of the other files; also for a named file that is not there
 */
export function readLayers(place: LayersPlace, of: LayersOf = {}): Layered {
  const { tenant, tunedBefore } = of
  const { project, isOfRepository = false } = place
  const layers: FileLayer[] = []
  const faults: string[] = []
  const tunedFaults: string[] = []
  const read = (file: string, options: Parameters<typeof readLayerFile>[1], into = faults) => {
    try {
      layers.push(readLayerFile(file, options))
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error
      for (const item of error.faults) into.push(item)
    }
  }
  if (tenant !== undefined && !TENANT_NAME.test(tenant)) {
    throw new ConfigError([`${JSON.stringify(tenant)} is no tenant`])
  }
  if (tenant !== undefined) {
    const file = tunedFileOf(place, tenant)
    if (existsSync(file)) read(file, { name: 'tuned', tenant, isOfRepository }, tunedFaults)
    if (tunedFaults.length > 0 && tunedBefore !== undefined) {
      layers.push(parseLayer(file, tunedBefore, { name: 'tuned', tenant, isOfRepository }))
    }
  }
  const common = pipelineFileOf(place)
  if (place.pipeline_config_file !== undefined || existsSync(common)) {
    read(common, { name: 'file', isOfRepository })
  }
  if (tenant !== undefined) {
    const file = tenantFileOf(place, tenant)
    if (existsSync(file)) read(file, { name: 'tenant', isOfRepository })
  }
  if (tenant !== undefined && of.project !== undefined) {
    const file = join(projectsFolderOf(place, tenant), `${of.project}.toml`)
    read(file, { name: 'project', isOfRepository })
  }
  if (project !== undefined) read(project, { name: 'project', isOfRepository: true })
  if (faults.length > 0) throw new ConfigError(faults)
  return { ...layered(layers, place), tunedFaults }
}

/** @throws ConfigError for what only shows in all of them */
function layered(
  layers: readonly FileLayer[],
  { ownTools, placesBreakpoints, elides }: LayersPlace,
): Omit<Layered, 'tunedFaults'> {
  const merged = mergeLayers(layers)
  const says = (isSaid: (settings: LayerSettings) => boolean) =>
    layers.some(({ settings }) => isSaid(settings))
  const isEliding = elides === true && !says(({ elision }) => elision?.in_proxies !== undefined)
  const elision = {
    ...merged.elision,
    ...(isEliding && { in_proxies: true }),
  }
  const isPlacing =
    placesBreakpoints === true && !says(({ cache_life }) => cache_life?.place !== undefined)
  const cache_life = isPlacing ? { ...merged.cache_life, place: true } : merged.cache_life
  const pipeline = {
    ...merged,
    elision,
    cache_life,
    ...(ownTools !== undefined && { ownTools }),
  }
  return {
    pipeline,
    generation: generationOf(layers, pipeline, [
      ...(isPlacing ? ['place'] : []),
      ...(isEliding ? ['elides'] : []),
    ]),
    layers,
    warnings: layers.flatMap(({ warnings }) => warnings),
  }
}

/** The views are part of it, since their files may change alone. */
function generationOf(
  layers: readonly FileLayer[],
  { knownViews, ownTools }: PipelineConfig,
  byDefault: readonly string[],
): string {
  const said = layers.map(({ name, settings }) => [name, settings])
  const text = JSON.stringify([said, ownTools, knownViews, ...byDefault])
  return hash('sha256', text, 'hex').slice(0, GENERATION_DIGITS)
}
