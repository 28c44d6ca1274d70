import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parse, TomlError } from 'smol-toml'
import type { PipelineConfig } from '../core/pipeline/profile/pipeline-config.ts'
import { type ViewData, viewFile } from '../core/reduce/views/view-schema.ts'
import { readPlainText } from '../files/read-plain-file.ts'
import { ConfigError, faultOfFile } from './read-toml.ts'
import { lineOf } from './toml-lines.ts'

/** The views that are built in; the package has them beside its code. */
const BUILT_IN = new URL('../../views/', import.meta.url)
/** What the build made of them: to parse and validate them takes a twelfth of a start. */
const COMPILED = new URL('built-in.json', BUILT_IN)

/** A view and the file that has it. */
export interface PlacedView extends ViewData {
  readonly file: string
}

/**
 * The views of a file.
 * @throws ConfigError with every fault: file, line, key and reason
 */
export function readViewFile(file: string): readonly PlacedView[] {
  const source = readSource(file)
  let tree: unknown
  try {
    tree = parse(source)
  } catch (error) {
    if (!(error instanceof TomlError)) throw new ConfigError([`${file}: ${faultOfFile(error)}`])
    throw new ConfigError([`${file}: line ${error.line}: ${error.message.split('\n')[0]}`])
  }
  const parsed = viewFile.safeParse(tree)
  if (parsed.success) return parsed.data.view.map(view => ({ ...view, file }))
  throw new ConfigError(
    parsed.error.issues.map(issue => {
      const path = [...issue.path, ...('keys' in issue ? (issue.keys as string[]).slice(0, 1) : [])]
      const line = lineOf(source, path)
      const reason = 'keys' in issue ? 'no such key' : issue.message
      return `${file}: line ${line}: ${path.map(String).join('.') || '(top level)'}: ${reason}`
    }),
  )
}

function readSource(file: string): string {
  try {
    return readPlainText(file)
  } catch (error) {
    throw new ConfigError([`${file}: ${faultOfFile(error)}`])
  }
}

let builtIn: readonly PlacedView[] | undefined

/** The views that come with the package, by the names of their files. */
export function builtInViews(): readonly PlacedView[] {
  builtIn ??= existsSync(COMPILED)
    ? (JSON.parse(readFileSync(COMPILED, 'utf8')) as PlacedView[]).map(inPackage)
    : readBuiltInViews()
  return builtIn
}

function readBuiltInViews(): readonly PlacedView[] {
  const files = readdirSync(BUILT_IN).filter(name => name.endsWith('.toml'))
  return files.sort().flatMap(name => readViewFile(fileURLToPath(new URL(name, BUILT_IN))))
}

function inPackage(view: PlacedView): PlacedView {
  return { ...view, file: fileURLToPath(new URL(view.file, BUILT_IN)) }
}

/**
 * The views that may apply under a configuration: those of its files before those that are built
 * in; of equal names the first.
 * @throws ConfigError for a file that cannot be used
 */
export function configuredViews({ files }: PipelineConfig['views']): readonly ViewData[] {
  const all = [...files.flatMap(readViewFile), ...builtInViews()]
  const seen = new Set<string>()
  const views: ViewData[] = []
  for (const { file: _, ...view } of all) {
    if (view.enabled && !seen.has(view.name)) views.push(view)
    seen.add(view.name)
  }
  return views
}
