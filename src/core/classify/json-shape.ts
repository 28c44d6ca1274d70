import { ObjectValue, type Value } from '../json/value.ts'
import { type Findings, scanString } from './inner-formats.ts'

/** Shapes of values that are objects or arrays. */
export type JsonShape =
  | 'nested_object'
  | 'flat_object'
  | 'array_of_objects'
  | 'array_of_primitives'
  | 'empty'

/** A container's shape with the sizes that telemetry and thresholds use. */
export interface JsonShapeFacts {
  shape: JsonShape
  /** Members of an array. */
  n_items?: number
  /** Members of an object, duplicates included. */
  n_fields?: number
  /** Levels of nesting; `[]` has one. */
  depth?: number
  /** Mean overlap of the rows' keys with the first row's, 0 to 1. */
  key_stability?: number
}

type Container = ObjectValue | readonly Value[]

/**
 * Rows compared for `key_stability`: enough for two digits of a mean, and cheap on the longest
 * list.
 */
const KEY_STABILITY_ROWS = 20

/**
 * The shape of an object or array. Inner formats of its strings, at every depth, go to `findings`,
 * unless that is `null`.
 */
export function jsonShape(value: Container, findings: Findings | null): JsonShapeFacts {
  const depth = depthOf(value, findings)
  if (value instanceof ObjectValue) {
    const n_fields = value.keys.length
    if (n_fields === 0) return { shape: 'empty', n_fields }
    const shape = value.values.some(isContainer) ? 'nested_object' : 'flat_object'
    return { shape, n_fields, depth }
  }
  const n_items = value.length
  if (n_items === 0) return { shape: 'empty', n_items }
  if (value.every(isObject)) {
    return { shape: 'array_of_objects', n_items, depth, key_stability: keyStability(value) }
  }
  // A mixed array is reported as nested: no format may count on its members being alike.
  const shape = value.some(isContainer) ? 'nested_object' : 'array_of_primitives'
  return { shape, n_items, depth }
}

/** The number of levels; scans every string for inner formats, level by level. */
function depthOf(root: Container, findings: Findings | null): number {
  let levels = 0
  for (let level: Container[] = [root]; level.length > 0; levels++) {
    const next: Container[] = []
    for (const container of level) {
      for (const member of container instanceof ObjectValue ? container.values : container) {
        if (typeof member === 'string') {
          if (findings !== null) scanString(member, findings)
        } else if (isContainer(member)) next.push(member)
      }
    }
    level = next
  }
  return levels
}

function isContainer(value: Value): value is Container {
  return value instanceof ObjectValue || Array.isArray(value)
}

function isObject(value: Value): value is ObjectValue {
  return value instanceof ObjectValue
}

/** Mean Jaccard index of row k's keys and row 0's, of the first rows; 1 for a single row. */
export function keyStability(rows: readonly ObjectValue[]): number {
  const reference = rows[0]!.keys
  const first = new Set(reference)
  const compared = Math.min(rows.length, KEY_STABILITY_ROWS) - 1
  if (compared === 0) return 1
  let sum = 0
  for (let i = 1; i <= compared; i++) {
    const { keys } = rows[i]!
    sum += keys === reference ? 1 : jaccard(first, new Set(keys))
  }
  return sum / compared
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  const union = a.union(b).size
  return union === 0 ? 1 : (a.size + b.size - union) / union
}
