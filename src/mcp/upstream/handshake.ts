import { type JsonBytes, parseAt } from '../../core/json/bytes/json-node.ts'
import { jsonBytes, type Outcome } from '../json-rpc.ts'
import { EMPTY_OBJECT, member, withMember } from '../members.ts'
import type { ServerFacts } from './connection.ts'
import { META, metaMember } from './envelope.ts'
import type { LinkEnd, LinkFailure } from './link.ts'
import type { ClientClaims } from './options.ts'

/** Modern revisions that we speak, the best first. */
export const MODERN_VERSIONS: readonly string[] = ['2026-07-28']

/** Legacy revisions that we speak, the best first. */
const LEGACY_VERSIONS: readonly string[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** The server does not speak the revision of the request. */
const UNSUPPORTED_VERSION = -32022

/** What the answer to a handshake means. */
export type HandshakeEnd =
  | { readonly kind: 'open'; readonly facts: ServerFacts }
  /** The server is of the other era, or may be. */
  | { readonly kind: 'legacy' }
  | { readonly kind: 'modern'; readonly version: string }
  | { readonly kind: 'failed'; readonly failure: LinkFailure }

export function initializeParams({ capabilities, clientInfo }: ClientClaims): JsonBytes {
  const version = jsonBytes({ protocolVersion: LEGACY_VERSIONS[0] })
  const capable = withMember(version, 'capabilities', capabilities) ?? version
  return withMember(capable, 'clientInfo', clientInfo) ?? capable
}

/**
 * Reads the answer to `server/discover`. What only a server of MCP can answer is evidence: a fault
 * of the network, of a gateway or of credentials says nothing about the era.
 * @param isStdio some legacy servers exit on a request before `initialize`
 */
export function readDiscovery(end: LinkEnd, version: string, isStdio: boolean): HandshakeEnd {
  if (end.kind === 'answered' && isTooLarge(end.outcome)) {
    return failed('the answer to server/discover is too large')
  }
  if (end.kind === 'answered' && end.outcome.kind === 'result') {
    const supported = parsed(member(end.outcome.result, 'supportedVersions'))
    if (!knownModern(supported)) return { kind: 'legacy' }
    return { kind: 'open', facts: modernFacts(end.outcome.result, version) }
  }
  if (end.kind === 'answered') {
    const offered = offeredVersion(end.outcome)
    return offered === null ? { kind: 'legacy' } : { kind: 'modern', version: offered }
  }
  const status = end.kind === 'malformed' ? (end.status ?? 0) : 0
  const isLegacy =
    end.kind === 'timeout' || (end.kind === 'lost' && isStdio) || (status >= 400 && status < 500)
  return isLegacy ? { kind: 'legacy' } : { kind: 'failed', failure: end }
}

/** Reads the answer to `initialize`. */
export function readInitialized(end: LinkEnd): HandshakeEnd {
  if (end.kind !== 'answered') return { kind: 'failed', failure: end }
  const { outcome } = end
  if (isTooLarge(outcome)) return failed('the answer to initialize is too large')
  if (outcome.kind === 'error') {
    const offered = offeredVersion(outcome)
    if (offered !== null) return { kind: 'modern', version: offered }
    return failed(`initialize was refused: ${String(parsed(member(outcome.error, 'message')))}`)
  }
  const version = parsed(member(outcome.result, 'protocolVersion'))
  if (typeof version !== 'string' || !LEGACY_VERSIONS.includes(version)) {
    return failed('initialize was answered with an unknown revision')
  }
  return { kind: 'open', facts: factsOf('legacy', outcome.result, version) }
}

/** What a server states of itself, of which its instructions are the largest part. */
const MOST_BYTES = 1024 * 1024

function isTooLarge(outcome: Outcome): boolean {
  return (outcome.kind === 'result' ? outcome.result : outcome.error).length > MOST_BYTES
}

/** Whether a modern server refused the revision of a request: it was replaced by another one. */
export function isVersionRefused(outcome: Outcome): boolean {
  return outcome.kind === 'error' && codeOf(outcome.error) === UNSUPPORTED_VERSION
}

/** The modern revision that a server offers when it refuses another; `null` for any other error. */
function offeredVersion(outcome: Outcome): string | null {
  if (outcome.kind !== 'error' || !isVersionRefused(outcome)) return null
  const data = member(outcome.error, 'data')
  return knownModern(data == null ? null : parsed(member(data, 'supported'))) ?? null
}

function knownModern(supported: unknown): string | undefined {
  return Array.isArray(supported)
    ? MODERN_VERSIONS.find(each => supported.includes(each))
    : undefined
}

function modernFacts(result: JsonBytes, version: string): ServerFacts {
  const facts = factsOf('modern', result, version)
  const serverInfo = metaMember(result, META.serverInfo)
  return serverInfo === undefined ? facts : { ...facts, serverInfo }
}

function factsOf(era: ServerFacts['era'], result: JsonBytes, protocolVersion: string): ServerFacts {
  const instructions = parsed(member(result, 'instructions'))
  return {
    era,
    protocolVersion,
    capabilities: objectOf(member(result, 'capabilities')) ?? EMPTY_OBJECT,
    serverInfo: objectOf(member(result, 'serverInfo')),
    instructions: typeof instructions === 'string' ? instructions : null,
  }
}

function failed(detail: string): HandshakeEnd {
  return { kind: 'failed', failure: { kind: 'malformed', detail } }
}

function codeOf(error: JsonBytes): unknown {
  return parsed(member(error, 'code'))
}

function objectOf(raw: JsonBytes | null | undefined): JsonBytes | null {
  return raw != null && raw[0] === EMPTY_OBJECT[0] ? raw : null
}

/** A value of the handshake, which is ours to look at. */
function parsed(raw: JsonBytes | null | undefined): unknown {
  return raw == null ? undefined : parseAt(raw, { start: 0, end: raw.length })
}
