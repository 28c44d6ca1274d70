import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'smol-toml'
import { NEWEST_SCHEMA } from '../../core/pipeline/profile/default-pipeline.ts'
import {
  isTable,
  type KeyPath,
  leavesOf,
  startsWith,
  valueAt,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { lineOf } from '../toml-lines.ts'
import { parseLayer, parseToml } from './layer-file.ts'
import { SAVED_DEFAULTS } from './predecessor.ts'
import { type TranslatedKey, translateKeys, treeOf } from './predecessor-keys.ts'

/**
 * A file of the predecessor, or of an earlier schema, in the words of this version. Nothing is
 * written. Gives the text, what became of every key in the order of its lines, and a warning for
 * what the new file switches off without naming it.
 * @param options.keepsDefaults whether values stay that its `save` writes by itself
 * @throws ConfigError for a file with faults
 */
export function migrateFile(file: string, source: string, options: { keepsDefaults: boolean }) {
  // What is refused when it is loaded is not carried over.
  parseLayer(file, source, { name: 'file' })
  const before = parseToml(file, source)
  const translated = translateKeys(before)
  const defaults = options.keepsDefaults ? [] : savedDefaultsIn(translated)
  const isDefault = ({ path }: TranslatedKey) => defaults.some(each => startsWith(path, each))
  const keys = translated
    .filter(({ from }) => !isTable(valueAt(before, from)))
    .map(key => ({
      line: lineOf(source, key.from),
      key: writeKey(key.from),
      fate: isDefault(key) ? OWN_DEFAULT : fateOf(key),
    }))
  const { schema_version: _, ...rest } = treeOf(translated.filter(key => !isDefault(key)))
  const text = `${stringify({ schema_version: NEWEST_SCHEMA, ...rest })}\n`
  const { warnings } = parseLayer(file, text, { name: 'file' })
  return { text, keys: keys.toSorted((a, b) => a.line - b.line), warnings }
}

const OWN_DEFAULT = "is left out: the predecessor's own default, which costs tokens here"

function fateOf({ from, notes }: TranslatedKey): string {
  if (from.join() === 'schema_version') return `is ${NEWEST_SCHEMA}`
  return notes.map(({ text }) => text).join('; ') || 'stays'
}

/** The paths whose values are those that the predecessor writes by itself. */
function savedDefaultsIn(keys: readonly TranslatedKey[]): readonly KeyPath[] {
  const [tree, saved] = [treeOf(keys), treeOf(translateKeys(parse(SAVED_DEFAULTS)))]
  // A variant of data is one choice.
  const paths = leavesOf(saved).map(path => (path[1] === 'data' ? path.slice(0, 4) : path))
  return paths.filter(path => isDeepStrictEqual(valueAt(tree, path), valueAt(saved, path)))
}
