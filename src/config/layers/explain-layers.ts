import { DEFAULT_PIPELINE } from '../../core/pipeline/profile/default-pipeline.ts'
import {
  isTable,
  type KeyPath,
  leavesOf,
  type Tree,
  valueAt,
  writeKey,
} from '../../core/pipeline/profile/key-path.ts'
import { settingsFor } from '../../core/pipeline/profile/resolve.ts'
import type { ProfileQuery } from '../../core/pipeline/profile/sections.ts'
import {
  pathOfToolKey,
  TOOL_KEY_NAMES,
  TOOL_KEYS,
  type ToolKey,
} from '../../core/pipeline/profile/tool-keys.ts'
import type { SettingsEntry } from '../../core/pipeline/profile/tool-settings.ts'
import type { TunedTable } from '../../core/pipeline/profile/tuned-table.ts'
import { lineOf } from '../toml-lines.ts'
import type { FileLayer, LayerName } from './layer-file.ts'
import type { Layered } from './read-layers.ts'

/** A value, and where it is said. */
export interface PlacedValue {
  readonly value: unknown
  readonly layer: LayerName | 'built-in'
  /** Dotted; another than the row's if a name, a variant or a section has the value. */
  readonly key: string
  readonly file?: string
  readonly line?: number
  /** Why `tune` wrote it. */
  readonly tuned?: Omit<TunedTable['changes'][number], 'key'>
}

/** A key with its value in force, and the values that it takes precedence over. */
export interface ExplainedKey extends Omit<PlacedValue, 'key'> {
  readonly key: string
  /** The key that says the value, if the row's is that of a tool. */
  readonly from?: string
  readonly losing: readonly PlacedValue[]
}

/** Every key of a configuration, in the order of the schema, then those by name. */
export function explainLayers({ pipeline, layers }: Layered): readonly ExplainedKey[] {
  const { layers: _, knownViews: __, ...merged } = pipeline
  return leavesOf(merged).map(path => {
    const key = writeKey(path)
    const said = layers.toReversed().flatMap(layer => {
      const value = valueAt(layer.settings as Tree, path)
      return value === undefined ? [] : [placed(value, path, layer)]
    })
    const byDefault = valueAt(DEFAULT_PIPELINE, path)
    const builtIn = byDefault === undefined ? [] : [placed(byDefault, path, null)]
    // Within a table of a name the schema has defaults too, which no layer says.
    const filled = placed(valueAt(merged, path), path, null)
    const [inForce = filled, ...losing] = [...said, ...builtIn]
    return { ...inForce, key, losing }
  })
}

/** Every key by tool that is set for a call, with what it takes precedence over. */
export function explainCall(
  { pipeline, layers }: Layered,
  query: ProfileQuery,
): readonly ExplainedKey[] {
  const { entries } = settingsFor(pipeline, query)
  const ofFiles = layers.toReversed()
  return TOOL_KEY_NAMES.flatMap(key => {
    const values = entries.flatMap(entry => {
      const value: unknown = entry.values[key]
      if (value === undefined) return []
      const path = pathOf(key, entry)
      // A single layer is merged with the built-in one.
      const layer = ofFiles[entry.layer] ?? null
      const isSaid = layer !== null && valueAt(layer.settings as Tree, path) !== undefined
      return [placed(value, path, isSaid ? layer : null)]
    })
    const [inForce, ...losing] = values
    return inForce === undefined ? [] : [{ ...inForce, key, from: inForce.key, losing }]
  })
}

function placed(value: unknown, path: KeyPath, layer: FileLayer | null): PlacedValue {
  const key = writeKey(path)
  if (layer === null) return { value, layer: 'built-in', key }
  const { name, file, source, tuned } = layer
  const change = tuned?.changes.find(each => each.key === key)
  const { key: _, ...reason } = change ?? { key }
  return {
    value,
    layer: name,
    key,
    file,
    line: lineOf(source, path),
    ...('rule' in reason ? { tuned: reason } : {}),
  }
}

/** Where an entry of a layer has a key. */
function pathOf(key: ToolKey, { of, name }: SettingsEntry): KeyPath {
  const { agent = key, data = key, section } = TOOL_KEYS[key]
  switch (of) {
    case 'agent':
      return ['profiles', 'agent', 'variants', name, agent]
    case 'data':
      return ['profiles', 'data', 'variants', name, data]
    case 'section':
      return section ?? [key]
    case 'name':
      return pathOfToolKey(key, name)
  }
}

/** As TOML writes it, on one line. */
export function writeValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(writeValue).join(', ')}]`
  if (!isTable(value)) return JSON.stringify(value)
  const entries = Object.entries(value).map(([name, inner]) => {
    return `${writeKey([name])} = ${writeValue(inner)}`
  })
  return entries.length === 0 ? '{}' : `{ ${entries.join(', ')} }`
}
