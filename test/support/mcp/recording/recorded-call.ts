import type { IncomingHttpHeaders } from 'node:http'

/** One message, or one request without a body, as a client sent it. */
export interface RecordedCall {
  /** Its bytes: a line without its end, or a body. */
  readonly bytes: Buffer
  /** `null` over stdio. */
  readonly http: { readonly method: string; readonly headers: IncomingHttpHeaders } | null
  /** `null` if the bytes are no request and no notification. */
  readonly method: string | null
  /** The id as it is spelled, or `null` if there is none. */
  readonly id: string | null
  /** The `name` of `params`: of a tool or a prompt. */
  readonly name: string | null
}

/** Reads as much as an answer needs; the bytes may be anything. */
export function readCall(bytes: Buffer, http: RecordedCall['http']): RecordedCall {
  const { method, params } = parse(bytes)
  const name = (params as { name?: unknown } | undefined)?.name
  return {
    bytes,
    http,
    method: typeof method === 'string' ? method : null,
    id: idOf(bytes),
    name: typeof name === 'string' ? name : null,
  }
}

function parse(bytes: Buffer): { method?: unknown; params?: unknown } {
  try {
    return Object(JSON.parse(bytes.toString()))
  } catch {
    return {}
  }
}

/** `JSON.parse` gives each literal's spelling to its reviver: the outermost object comes last. */
function idOf(bytes: Buffer): string | null {
  const spelled = new Map<unknown, string>()
  let id: string | null = null
  function revive(this: unknown, key: string, value: unknown, context: { source?: string }) {
    if (key === 'id' && context.source !== undefined) spelled.set(this, context.source)
    if (key === '') id = spelled.get(value) ?? null
    return value
  }
  try {
    JSON.parse(bytes.toString(), revive as (key: string, value: unknown) => unknown)
  } catch {
    return null
  }
  return id
}
