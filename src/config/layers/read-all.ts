import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { TENANT_NAME } from '../../core/base/tenant-name.ts'
import type { PipelineConfig } from '../../core/pipeline/profile/pipeline-config.ts'
import {
  type Layered,
  type LayersPlace,
  pipelineFileOf,
  projectsFolderOf,
  readLayers,
  TENANTS_FOLDER,
  TUNED_FOLDER,
} from './read-layers.ts'

/** A configuration as threads get it. */
export interface WrittenConfig {
  /** Its generation. */
  readonly id: string
  /** The configuration as JSON in UTF-8, in memory that threads share. */
  readonly bytes: SharedArrayBuffer
}

/** The configuration itself. */
export function readWritten({ bytes }: WrittenConfig): PipelineConfig {
  // Text cannot be decoded from shared memory.
  return JSON.parse(Buffer.from(new Uint8Array(bytes)).toString()) as PipelineConfig
}

/** Every configuration of a service. */
export interface AllLayers {
  /** For tenants without files of their own. */
  readonly common: WrittenConfig
  readonly tenants: Readonly<Record<string, WrittenConfig>>
  /** By tenant and project, as `projectKey` writes them. */
  readonly projects: Readonly<Record<string, WrittenConfig>>
  /** A line each, of all files. */
  readonly warnings: readonly string[]
  /** Why tuned files have no effect, by tenant; a line each. */
  readonly tunedFaults: Readonly<Record<string, readonly string[]>>
  /** The texts of tuned files in force, by tenant. */
  readonly tuned: TunedTexts
}

type TunedTexts = Readonly<Record<string, string>>

/**
 * Reads the layers of all tenants. Only plain data, so that a thread can hand it to another.
 * @throws ConfigError with every fault of files that people wrote
 */
export function readAllLayers(place: LayersPlace, tunedBefore: TunedTexts = {}): AllLayers {
  const common = readLayers(place)
  const own = tenantsIn(place).map(tenant => {
    const before = Object.hasOwn(tunedBefore, tenant) ? tunedBefore[tenant] : undefined
    return [tenant, readLayers(place, { tenant, tunedBefore: before })] as const
  })
  const ofProjects = tenantsIn(place).flatMap(tenant =>
    projectsIn(place, tenant).map(project => {
      const of = { tenant, project, tunedBefore: tunedBefore[tenant] }
      return [projectKey(tenant, project), readLayers(place, of)] as const
    }),
  )
  const all = [common, ...[...own, ...ofProjects].map(([, each]) => each)]
  const warnings = all.flatMap(each => each.warnings)
  const faulty = own.filter(([, { tunedFaults }]) => tunedFaults.length > 0)
  return {
    common: written(common),
    tenants: Object.fromEntries(own.map(([tenant, each]) => [tenant, written(each)])),
    projects: Object.fromEntries(ofProjects.map(([key, each]) => [key, written(each)])),
    warnings: [...new Set(warnings)],
    tunedFaults: Object.fromEntries(faulty.map(([tenant, each]) => [tenant, each.tunedFaults])),
    tuned: Object.fromEntries(
      own.flatMap(([tenant, { layers }]) =>
        layers.filter(({ name }) => name === 'tuned').map(({ source }) => [tenant, source]),
      ),
    ),
  }
}

function written({ generation, pipeline }: Layered): WrittenConfig {
  const text = Buffer.from(JSON.stringify(pipeline))
  const bytes = new SharedArrayBuffer(text.length)
  new Uint8Array(bytes).set(text)
  return { id: generation, bytes }
}

/** Tenants that have files, by name. */
function tenantsIn(place: LayersPlace): readonly string[] {
  const folders = [
    join(place.data_dir, TUNED_FOLDER),
    join(dirname(pipelineFileOf(place)), TENANTS_FOLDER),
  ]
  const files = folders.filter(folder => existsSync(folder)).flatMap(folder => readdirSync(folder))
  const names = [...files.flatMap(nameIn), ...foldersIn(dirname(projectsFolderOf(place, '-')))]
  return [...new Set(names)].filter(name => TENANT_NAME.test(name)).sort()
}

/** The projects of a tenant that have files, by name. */
export function projectsIn(place: LayersPlace, tenant: string): readonly string[] {
  return entriesIn(projectsFolderOf(place, tenant))
    .flatMap(({ name }) => nameIn(name))
    .filter(name => TENANT_NAME.test(name))
    .sort()
}

/** Names a project of a tenant. Neither name has a slash. */
export function projectKey(tenant: string, project: string): string {
  return `${tenant}/${project}`
}

function foldersIn(folder: string): readonly string[] {
  const entries = entriesIn(folder)
  return entries.filter(each => each.isDirectory()).map(({ name }) => name)
}

/** None if it is no folder. */
function entriesIn(folder: string): readonly Dirent[] {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
  return isFolder ? readdirSync(folder, { withFileTypes: true }) : []
}

/** What is in front of the suffix; empty if a file has another one. */
function nameIn(file: string): readonly string[] {
  return file.endsWith(SUFFIX) ? [file.slice(0, -SUFFIX.length)] : []
}

const SUFFIX = '.toml'
