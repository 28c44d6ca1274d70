import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse, TomlError } from 'smol-toml'
import type { z } from 'zod'
import { NEWEST_SCHEMA } from '../../core/pipeline/profile/default-pipeline.ts'
import { FORMAT_IDS } from '../../core/pipeline/profile/format-ids.ts'
import {
  type KeyPath,
  leavesOf,
  type Tree,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { type LayerSettings, pipelineSchema } from '../../core/pipeline/profile/pipeline-config.ts'
import { type TunedTable, tunedTable } from '../../core/pipeline/profile/tuned-table.ts'
import { readPlainText } from '../../files/read-plain-file.ts'
import { describeIssue } from '../describe-issue.ts'
import { ConfigError, faultOfFile } from '../read-toml.ts'
import { lineOf } from '../toml-lines.ts'
import { translateKeys, treeOf } from './predecessor-keys.ts'
import { type Fault, projectFaults } from './project-keys.ts'

/** The layers of files, in their order: later ones take precedence. */
export const LAYERS = ['tuned', 'file', 'tenant', 'project'] as const
export type LayerName = (typeof LAYERS)[number]

/** A layer that was read from a file. */
export interface FileLayer {
  readonly name: LayerName
  readonly file: string
  /** The text, in which lines are found. */
  readonly source: string
  readonly settings: LayerSettings
  /** What its keys mean here, or switch off without naming it; a line each. */
  readonly warnings: readonly string[]
  /** Only a tuned file has it. */
  readonly tuned?: TunedTable
}

/** The largest file of a layer, in bytes; ten thousand overrides take half a megabyte. */
const MAX_BYTES = 4 * 1024 * 1024
/** The same of a file that comes with a repository. */
const MAX_PROJECT_BYTES = 64 * 1024

interface ReadOptions {
  readonly name: LayerName
  /** Whose tuned file it must be. */
  readonly tenant?: string
  /** It came with a repository, so it is small and may say little. */
  readonly isOfRepository?: boolean
}

/**
 * Reads a layer.
 * @throws ConfigError with every fault: file, line, key and what fits
 */
export function readLayerFile(file: string, options: ReadOptions): FileLayer {
  const source = readBounded(file, options.isOfRepository ? MAX_PROJECT_BYTES : MAX_BYTES)
  return parseLayer(file, source, options)
}

/** The same for a text that was read already. */
export function parseLayer(file: string, source: string, options: ReadOptions): FileLayer {
  const { name, tenant } = options
  const place = (path: readonly PropertyKey[]) => `${file}: line ${lineOf(source, path)}: `
  const { tuned, ...rest } = parseToml(file, source)
  const translated = translateKeys(
    name === 'tuned' || tuned === undefined ? rest : { ...rest, tuned },
  )
  const tree = withReadingTable(treeOf(translated))
  const parsed = pipelineSchema.safeParse(tree)
  const issues = (parsed.error?.issues ?? []).filter(issue => !isOfWhole(issue))
  const faults = issues.flatMap(issue => faultsOf(issue, pipelineSchema, tree))
  if (options.isOfRepository) {
    for (const item of projectFaults(tree)) faults.push(item)
  }
  const head = name === 'tuned' ? tunedTable.safeParse(tuned) : null
  for (const issue of head?.error?.issues ?? []) {
    for (const item of faultsOf({ ...issue, path: ['tuned', ...issue.path] }, tunedTable, {}))
      faults.push(item)
  }
  if (head?.success) {
    for (const item of tunedFaults(head.data, tree, tenant)) faults.push(item)
  }
  if (faults.length > 0) {
    throw new ConfigError(faults.map(({ path, text }) => `${place(path)}${named(path)}: ${text}`))
  }
  const settings = tree as LayerSettings
  const said: { path: KeyPath; text: string }[] = translated.flatMap(({ notes }) => notes)
  const off = switchedOff(settings)
  if (off !== null) said.push({ path: LISTED_FORMATS, text: off })
  return {
    name,
    file,
    source,
    settings: withViewFiles(settings, dirname(file)),
    // The keys below a renamed table have one note of it.
    warnings: [
      ...new Set(said.map(({ path, text }) => `${place(path)}${writeKey(path)}: ${text}`)),
    ],
    ...(head?.success ? { tuned: head.data } : {}),
  }
}

/** `reading = "plain"` is short for the level alone. */
function withReadingTable(tree: Tree): Tree {
  const { reading } = tree
  return typeof reading === 'string' ? { ...tree, reading: { level: reading } } : tree
}

function named(path: readonly PropertyKey[]): string {
  return path.length === 0 ? '(top level)' : writeKey(path)
}

function readBounded(file: string, maxBytes: number): string {
  let size: number
  try {
    size = statSync(file).size
    if (size <= maxBytes) return readPlainText(file)
  } catch (error) {
    throw new ConfigError([`${file}: ${faultOfFile(error)}`])
  }
  throw new ConfigError([`${file}: has ${size} bytes; ${maxBytes} are allowed`])
}

/** @throws ConfigError with the line of a fault */
export function parseToml(file: string, source: string): Tree {
  try {
    return parse(source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw new ConfigError([`${file}: ${faultOfFile(error)}`])
    // The next lines of the message quote the file.
    throw new ConfigError([`${file}: line ${error.line}: ${error.message.split('\n')[0]}`])
  }
}

/** Whether a fault can only be seen in all layers together: another one may have the variant. */
function isOfWhole({ code, path }: z.core.$ZodIssue): boolean {
  return code === 'custom' && path[0] === 'profiles' && path.at(-1) === 'active'
}

function faultsOf(issue: z.core.$ZodIssue, schema: z.ZodType, tree: Tree): readonly Fault[] {
  const { path } = issue
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(key => {
      const text = describeIssue({ ...issue, keys: [key] }, schema)
      return { path: [...path, key], text }
    })
  }
  if (path.join() === 'schema_version')
    return [{ path, text: schemaFault(tree[path[0] as string]) }]
  return [{ path, text: describeIssue(issue, schema) }]
}

function schemaFault(version: unknown): string {
  const isNewer = typeof version === 'number' && version > NEWEST_SCHEMA
  const range = `this version reads 1 to ${NEWEST_SCHEMA}`
  return isNewer ? `${version} is of a later version; ${range}` : `must be a whole number; ${range}`
}

/** Files of views are named from the folder of the file that names them. */
function withViewFiles(settings: LayerSettings, folder: string): LayerSettings {
  const { views } = settings
  if (views?.files === undefined) return settings
  const files = views.files.map(each => resolve(folder, each))
  return { ...settings, views: { ...views, files } }
}

/** What the table `tuned` says beside the rest of its file. */
function tunedFaults(head: TunedTable, tree: Tree, tenant: string | undefined): readonly Fault[] {
  const faults: Fault[] = []
  if (tenant !== undefined && head.tenant !== undefined && head.tenant !== tenant) {
    const text = `is ${JSON.stringify(head.tenant)}, but the file is under the name of another`
    faults.push({ path: ['tuned', 'tenant'], text })
  }
  const keys = new Set(
    leavesOf(tree).flatMap(path => path.map((_, at) => writeKey(path.slice(0, at + 1)))),
  )
  for (const [index, { key }] of head.changes.entries()) {
    if (keys.has(key)) continue
    faults.push({ path: ['tuned', 'changes', index, 'key'], text: `${key} is no key of the file` })
  }
  return faults
}

/** The list that switches off each format that it does not name. */
const LISTED_FORMATS = ['mckp', 'formats_enabled'] as const

/** What a file's list of formats switches off; `null` if it is nothing. */
function switchedOff({ mckp }: LayerSettings): string | null {
  const listed = mckp?.formats_enabled
  const off = listed === undefined ? [] : FORMAT_IDS.filter(id => !listed.includes(id))
  if (off.length === 0) return null
  return `switches off ${off.join(', ')}: results that are shortest in them get longer`
}
