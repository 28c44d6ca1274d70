import { percent, table } from '../../console/table.ts'
import { type Blend, blendAll } from '../../core/fingerprints/blend.ts'
import type { Fingerprint } from '../../core/fingerprints/fingerprint.ts'
import type { Pulled } from '../../fingerprints/pulled.ts'

/** A row of the table: a fingerprint, and the share of each source if it is blended. */
type Row = Fingerprint & { readonly weights?: Blend['weights'] }

/** Every endpoint that some source knows enough about, blended. */
export function blendRows(own: readonly Fingerprint[], pulled: Pulled): Row[] {
  const ownByName = new Map(own.map(each => [each.endpoint_class, each]))
  const blended = blendAll({ own: ownByName, ...pulled })
  return [...blended.values()].map(({ fingerprint, weights }) => ({ ...fingerprint, weights }))
}

/** As a table for people, the most called first. */
export function fingerprintTable(rows: readonly Row[]): string {
  if (rows.length === 0) return 'no endpoints; telemetry is built with haversack fingerprints build'
  const isBlended = rows.some(({ weights }) => weights !== undefined)
  const header = ['endpoint', 'calls', 'sessions', 'bytes', 'shape', 'bits', 'repeats', 'formats']
  const sorted = [...rows].sort((a, b) => b.call_count - a.call_count)
  return table(
    isBlended ? [...header, 'own/team/provider'] : header,
    sorted.map(row => [
      row.endpoint_class,
      row.call_count,
      row.source_sessions,
      Math.round(row.avg_response_chars),
      row.shape_dominant,
      row.format_entropy,
      percent(row.dup_rate, 1),
      row.inner_formats_top3.join(' '),
      ...(row.weights === undefined ? [] : [partsOf(row.weights)]),
    ]),
  )
}

function partsOf({ own, team, provider }: Blend['weights']): string {
  return [own, team, provider].map(part => part.toFixed(2)).join('/')
}
