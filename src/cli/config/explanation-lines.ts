import {
  type ExplainedKey,
  type PlacedValue,
  writeValue,
} from '../../config/layers/explain-layers.ts'
import { alignColumns } from '../../console/table.ts'

/** A line for each key, and one below it for each value that it takes precedence over. */
export function explanationLines(keys: readonly ExplainedKey[]): readonly string[] {
  const rows = keys.flatMap(({ key, from = key, losing, ...inForce }) => [
    [`${key} = ${writeValue(inForce.value)}`, placeOf({ ...inForce, key: from }, key)],
    ...losing.map(value => [`  not ${writeValue(value.value)}`, placeOf(value, key)]),
  ])
  return alignColumns(rows)
}

/** The layer, file and line, and the key if that is another one. */
function placeOf({ layer, key, file, line, tuned }: PlacedValue, row: string): string {
  const other = key === row ? '' : ` ${key}`
  const place = file === undefined ? '' : ` ${file}:${line}`
  const why = tuned === undefined ? '' : ` (${tuned.rule}, ${tuned.date}: ${tuned.evidence})`
  return `${layer}${other}${place}${why}`
}
