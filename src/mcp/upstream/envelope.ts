import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { EMPTY_OBJECT, member, withMember, withoutMember } from '../members.ts'
import type { ClientClaims } from './options.ts'

/** Before the names of MCP's own keys of `_meta`. */
const PREFIX = 'io.modelcontextprotocol/'

/** Keys of `_meta` with which a modern request describes itself. */
export const META = {
  protocolVersion: `${PREFIX}protocolVersion`,
  clientCapabilities: `${PREFIX}clientCapabilities`,
  clientInfo: `${PREFIX}clientInfo`,
  logLevel: `${PREFIX}logLevel`,
  serverInfo: `${PREFIX}serverInfo`,
  subscriptionId: `${PREFIX}subscriptionId`,
} as const

/** Parameters as an upstream gets them. */
export interface PreparedParams {
  readonly params: JsonBytes | null
  /** The progress token that the client sent; `null` if it wants no progress. */
  readonly clientToken: JsonBytes | null
}

/**
 * Parameters for a server: a progress token becomes ours, and `_meta` describes the request if the
 * server is modern. Capabilities that the parameters state already stay. All other bytes stay.
 * @param id also the progress token
 * @param version of a modern server; `null` for a legacy one
 * @returns `null` if the parameters or their `_meta` have a member twice, or are no objects
 */
export function prepareParams(
  params: JsonBytes | null,
  id: number,
  version: string | null,
  claims: ClientClaims,
): PreparedParams | null {
  const meta = params === null ? undefined : member(params, '_meta')
  if (meta === null) return null
  const clientToken = meta === undefined ? undefined : member(meta, 'progressToken')
  if (clientToken === null) return null
  const described =
    version === null ? withoutEnvelope(meta) : withEnvelope(meta ?? EMPTY_OBJECT, version, claims)
  if (described === null) return null
  const own =
    clientToken === undefined || described === undefined
      ? described
      : withMember(described, 'progressToken', String(id))
  if (own === null) return null
  if (own === undefined || own === meta) return { params, clientToken: null }
  const prepared = withMember(params ?? EMPTY_OBJECT, '_meta', own)
  return prepared === null ? null : { params: prepared, clientToken: clientToken ?? null }
}

function withEnvelope(meta: JsonBytes, version: string, claims: ClientClaims): JsonBytes | null {
  const versioned = withMember(meta, META.protocolVersion, JSON.stringify(version))
  const capable = withDefault(versioned, META.clientCapabilities, claims.capabilities)
  return withDefault(capable, META.clientInfo, claims.clientInfo)
}

function withDefault(object: JsonBytes | null, name: string, value: JsonBytes): JsonBytes | null {
  if (object === null) return null
  const present = member(object, name)
  return present === undefined ? withMember(object, name, value) : present && object
}

/** A server of both eras would take a request with the envelope for a modern one. */
function withoutEnvelope(meta: JsonBytes | undefined): JsonBytes | null | undefined {
  if (meta === undefined) return undefined
  const envelope = [
    META.protocolVersion,
    META.clientCapabilities,
    META.clientInfo,
    META.logLevel,
  ] as const
  let rest: JsonBytes | null = meta
  for (const name of envelope) rest = rest && withoutMember(rest, name)
  return rest
}

/** The member of `_meta` of a notification or a result; `undefined` if it cannot be read. */
export function metaMember(object: JsonBytes | null, name: string): JsonBytes | undefined {
  const meta = object === null ? undefined : member(object, '_meta')
  return meta == null ? undefined : (member(meta, name) ?? undefined)
}

/** The number that we gave a request, as a server gave it back; `null` for any other id. */
export function ownIdOf(id: JsonBytes | null | undefined): number | null {
  if (id == null || id.length > 15) return null
  const text = id.toString('latin1')
  return /^[1-9]\d*$/.test(text) ? Number(text) : null
}
