import { CallLimit } from './call-limit.ts'
import type { Clock } from './clock.ts'
import type { ConnectionListener, ServerFacts } from './connection.ts'
import {
  type HandshakeEnd,
  initializeParams,
  MODERN_VERSIONS,
  readDiscovery,
  readInitialized,
} from './handshake.ts'
import type { LinkFailure } from './link.ts'
import type { ClientClaims, UpstreamLimits } from './options.ts'
import type { Session } from './session.ts'
import { currentVerdict, keepVerdict, type Verdict, type Verdicts } from './verdicts.ts'

export interface OpenOptions {
  readonly isStdio: boolean
  readonly verdicts: Verdicts
  readonly verdictKey: string
  readonly claims: ClientClaims
  readonly listener: ConnectionListener
  readonly limits: UpstreamLimits
  readonly clock: Clock
  /** Aborted if the connection is not wanted any more. */
  readonly signal: AbortSignal
  /**
   * @param version of a modern server; `null` for a legacy one
   * @param isSse whether it is spoken to as in 2024-11-05, over HTTP+SSE
   */
  createSession(version: string | null, isSse: boolean): Session
}

export type Opened =
  | { readonly kind: 'open'; readonly session: Session; readonly facts: ServerFacts }
  | { readonly kind: 'failed'; readonly failure: LinkFailure; readonly lastErrors: string }

type Attempt = Opened | Exclude<HandshakeEnd, { kind: 'open' | 'failed' }>

/**
 * Opens a session with a server of either era: `server/discover` first, else `initialize`. A probe
 * over stdio starts a process. It stays in use only if the server is modern.
 */
export async function openSession(options: OpenOptions): Promise<Opened> {
  const { verdicts, verdictKey, clock } = options
  const opened = await tryEras(options, currentVerdict(verdicts, verdictKey, clock))
  if (opened.kind === 'open') keepVerdict(verdicts, verdictKey, clock, opened.facts)
  return opened
}

async function tryEras(options: OpenOptions, known: Verdict | undefined): Promise<Opened> {
  const { limits } = options
  let attempt: Attempt = { kind: 'legacy' }
  if (known?.era !== 'legacy') {
    const version = known?.version ?? (MODERN_VERSIONS[0] as string)
    attempt = await tryModern(options, version, known ? limits.handshakeMs : limits.probeMs)
    if (attempt.kind === 'modern') {
      attempt = await tryModern(options, attempt.version, limits.handshakeMs)
    }
  }
  if (attempt.kind === 'legacy') attempt = await tryLegacy(options)
  // A server of the other era may be there now.
  if (known?.era === 'legacy' && isRefusal(attempt)) {
    const asked = await tryEras(options, undefined)
    return asked.kind === 'open' ? asked : attempt
  }
  // It may have been too slow for the probe.
  if (attempt.kind === 'modern') {
    attempt = await tryModern(options, attempt.version, limits.handshakeMs)
  }
  if (attempt.kind === 'open' || attempt.kind === 'failed') return attempt
  const failure: LinkFailure = { kind: 'malformed', detail: 'the server refuses both eras' }
  return { kind: 'failed', failure, lastErrors: '' }
}

/** Whether a server answered, but not as one of its era does. */
function isRefusal(attempt: Attempt): attempt is Extract<Opened, { kind: 'failed' }> {
  return attempt.kind === 'failed' && attempt.failure.kind === 'malformed'
}

function tryModern(options: OpenOptions, version: string, ms: number): Promise<Attempt> {
  const method = 'server/discover'
  return attempt(options, version, { method, params: null }, ms, end =>
    readDiscovery(end, version, options.isStdio),
  )
}

/**
 * A server of HTTP+SSE refuses the POST of a handshake (MCP 2025-03-26, "Backwards Compatibility").
 * What it then answers to a GET counts only if that is a stream which names an address.
 */
async function tryLegacy(options: OpenOptions): Promise<Attempt> {
  const answered = await initialize(options, false)
  if (options.isStdio || !isRefusedByHttp(answered)) return answered
  const older = await initialize(options, true)
  return isRefusedByHttp(older) ? answered : older
}

function initialize(options: OpenOptions, isSse: boolean): Promise<Attempt> {
  const request = { method: 'initialize', params: initializeParams(options.claims) }
  return attempt(options, null, request, options.limits.handshakeMs, readInitialized, isSse)
}

function isRefusedByHttp(attempt: Attempt): boolean {
  if (!isRefusal(attempt) || attempt.failure.kind !== 'malformed') return false
  const { status = 0 } = attempt.failure
  return status >= 400 && status < 500
}

async function attempt(
  options: OpenOptions,
  version: string | null,
  request: Pick<Parameters<Session['call']>[0], 'method' | 'params'>,
  ms: number,
  read: (end: Awaited<ReturnType<Session['call']>>) => HandshakeEnd,
  isSse = false,
): Promise<Attempt> {
  const { listener, clock, signal } = options
  let session: Session
  try {
    session = options.createSession(version, isSse)
  } catch {
    return failedAs({ kind: 'down', detail: 'its program could not be started' }, '')
  }
  const limit = new CallLimit(signal, ms, clock)
  const call = {
    ...request,
    notify: listener.onNotification.bind(listener),
    ask: listener.onRequest.bind(listener),
  }
  const end = read(await session.call(call, limit))
  if (end.kind === 'open') {
    await limit.race(session.ready(end.facts.protocolVersion))
    const { reason } = limit
    limit.release()
    if (reason === null) return { kind: 'open', session, facts: end.facts }
    await session.close()
    return failedAs({ kind: reason }, session.lastErrors())
  }
  limit.release()
  await session.close()
  return end.kind === 'failed' ? failedAs(end.failure, session.lastErrors()) : end
}

function failedAs(failure: LinkFailure, lastErrors: string): Opened {
  return { kind: 'failed', failure, lastErrors }
}
