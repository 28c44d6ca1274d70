import type { JsonBytes } from '../../core/json/bytes/json-node.ts'

/** The number that we gave a request, as a server gave it back; `null` for any other id. */
export function ownIdOf(id: JsonBytes | null | undefined): number | null {
  if (id == null || id.length > 15) return null
  const text = id.toString('latin1')
  return /^[1-9]\d*$/.test(text) ? Number(text) : null
}
