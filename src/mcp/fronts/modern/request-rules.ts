import {
  type JsonBytes,
  type JsonNode,
  memberOf,
  members,
  RANGE,
  textOf,
} from '../../../core/json/bytes/json-node.ts'
import { readJson } from '../../../core/json/bytes/read-json.ts'
import { OPEN_BRACE } from '../../../core/json/char-codes.ts'
import {
  errorOutcome,
  type Outcome,
  type RequestMessage,
  RPC_ERRORS,
  shortened,
} from '../../json-rpc.ts'
import { EMPTY_OBJECT } from '../../members.ts'
import { META } from '../../upstream/envelope.ts'
import { MODERN_VERSIONS } from '../../upstream/handshake.ts'
import { NAMED_BY } from '../../upstream/http-headers.ts'
import { headerText, type ReadHeader } from './header-text.ts'

/** Codes of the revision 2026-07-28. */
export const MODERN_ERRORS = {
  headerMismatch: -32020,
  missingCapability: -32021,
  unsupportedVersion: -32022,
} as const

/** What a request says of itself in `_meta`. */
export interface Envelope {
  /** JSON objects, byte for byte. */
  readonly capabilities: JsonBytes
  readonly clientInfo: JsonBytes | null
  readonly logLevel: string | null
  /** A JSON string or number. */
  readonly progressToken: JsonBytes | null
}

export type CheckedRequest =
  | { readonly kind: 'accepted'; readonly envelope: Envelope }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

const PARAMS = members({
  name: RANGE,
  uri: RANGE,
  taskId: RANGE,
  _meta: members({
    [META.protocolVersion]: RANGE,
    [META.clientCapabilities]: RANGE,
    [META.clientInfo]: RANGE,
    [META.logLevel]: RANGE,
    progressToken: RANGE,
  }),
})

/** From this revision on requests describe themselves. */
const FIRST_MODERN = '2026-07-28'

/**
 * Whether a request is for a server of the revision 2026-07-28: by what it says of itself, else by
 * its header.
 */
export function isModernRequest(params: JsonBytes | null, header: ReadHeader | null): boolean {
  const read = readParams(params)
  if (read !== null && memberOf(read.meta, META.protocolVersion) !== undefined) return true
  const named = header?.('mcp-protocol-version')?.trim() ?? ''
  return /^\d{4}-\d\d-\d\d$/.test(named) && named >= FIRST_MODERN
}

/**
 * Checks what every request has to have, in the order of the revision's rules: the headers that are
 * there, `_meta`, the revision, the headers that must be there.
 * @param header of the POST; `null` for other transports, which have none
 */
export function checkRequest(
  { method, params }: Pick<RequestMessage, 'method' | 'params'>,
  header: ReadHeader | null,
): CheckedRequest {
  const read = readParams(params)
  const body = params ?? EMPTY_OBJECT
  const version = textOf(body, memberOf(read?.meta, META.protocolVersion)) ?? null
  const fault =
    (header && differing('mcp-protocol-version', version, header)) ??
    (header && differing('mcp-method', method, header)) ??
    (read === null ? refusal(RPC_ERRORS.invalidParams, 'params have a member twice') : null)
  if (fault !== null || read === null) return fault ?? NO_PARAMS
  if (read.meta !== undefined && read.meta.end - read.meta.start > MOST_META_BYTES) {
    return refusal(RPC_ERRORS.invalidParams, `_meta is above ${MOST_META_BYTES} bytes`)
  }
  const at = (name: string) => rawOf(body, memberOf(read.meta, name))
  const capabilities = objectOf(at(META.clientCapabilities))
  if (version === null || capabilities === null) {
    const wanted = `${META.protocolVersion} and ${META.clientCapabilities}`
    return refusal(RPC_ERRORS.invalidParams, `_meta needs ${wanted}`)
  }
  if (!MODERN_VERSIONS.includes(version)) {
    const data = { supported: MODERN_VERSIONS, requested: shortened(version) }
    const message = `the revision ${version} is not supported`
    return refusal(MODERN_ERRORS.unsupportedVersion, message, data)
  }
  const parameter = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const named =
    parameter === undefined ? undefined : (textOf(body, memberOf(read.root, parameter)) ?? null)
  const missing = header && missingHeader(named, header)
  if (missing !== null) return missing
  const level = textOf(body, memberOf(read.meta, META.logLevel)) ?? null
  return {
    kind: 'accepted',
    envelope: {
      capabilities,
      clientInfo: objectOf(at(META.clientInfo)),
      logLevel: level,
      progressToken: at('progressToken'),
    },
  }
}

/** Headers of a notification may be missing; those that are there must match. */
export function checkNotification(
  { method }: { readonly method: string },
  header: ReadHeader,
): Outcome | null {
  return differing('mcp-method', method, header)?.outcome ?? null
}

/** What a request states beside its parameters is small. */
const MOST_META_BYTES = 256 * 1024

type RefusedRequest = Extract<CheckedRequest, { kind: 'refused' }>

const NO_PARAMS: RefusedRequest = refusal(RPC_ERRORS.invalidParams, 'params cannot be read')

function differing(name: string, inBody: string | null, header: ReadHeader): RefusedRequest | null {
  const sent = header(name)?.trim()
  if (sent === undefined || inBody === null || sent === inBody) return null
  return mismatch(name, sent, inBody)
}

/** @param named what `Mcp-Name` repeats; `null` if the body lacks it, `undefined` for no header */
function missingHeader(
  named: string | null | undefined,
  header: ReadHeader,
): RefusedRequest | null {
  for (const name of ['mcp-protocol-version', 'mcp-method']) {
    if (header(name) === null) return refusal(MODERN_ERRORS.headerMismatch, `${name} is missing`)
  }
  if (named === undefined) return null
  const sent = header('mcp-name')
  const text = sent === null ? null : headerText(sent)
  return text === named ? null : mismatch('mcp-name', sent, named)
}

/** A header that does not repeat what the body says. */
export function mismatch(
  header: string,
  sent: string | null,
  inBody: string | null,
): RefusedRequest {
  const body = inBody === null ? null : shortened(inBody)
  const data = { mismatch: { header: sent, body } }
  const message = `the header ${header} is missing, or differs from the body`
  return refusal(MODERN_ERRORS.headerMismatch, message, data)
}

function refusal(code: number, message: string, data?: object): RefusedRequest {
  return { kind: 'refused', outcome: errorOutcome(code, message, data) }
}

/** Returns `null` if another parser might read the parameters in another way. */
function readParams(
  params: JsonBytes | null,
): { root: JsonNode; meta: JsonNode | undefined } | null {
  const body = params ?? EMPTY_OBJECT
  const limits = { maxBytes: body.length, maxDepth: 10_000, maxValues: 16 }
  const root = readJson(body, PARAMS, limits)
  const meta = memberOf(root ?? undefined, '_meta')
  return root === null || root.doubled || meta?.doubled === true ? null : { root, meta }
}

function rawOf(body: JsonBytes, node: JsonNode | undefined): JsonBytes | null {
  return node === undefined ? null : body.subarray(node.start, node.end)
}

function objectOf(raw: JsonBytes | null): JsonBytes | null {
  return raw?.[0] === OPEN_BRACE ? raw : null
}
