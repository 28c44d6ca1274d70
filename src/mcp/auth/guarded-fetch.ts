import { lookup as resolveHost } from 'node:dns'
import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { GrownBytes } from '../../core/base/grown-bytes.ts'
import { mayName, type Nearness, nearnessOf } from './address-rules.ts'

/** Fetches what an MCP server names for its authorization. */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>

export interface FetchLimits {
  readonly bodyBytes: number
  readonly timeoutMs: number
}

const DEFAULT_LIMITS: FetchLimits = { bodyBytes: 1024 * 1024, timeoutMs: 10_000 }

/**
 * A URL that an MCP server must not name. Of the kind that the SDK never takes for a missing
 * document.
 */
class RefusedUrl extends TypeError {
  override readonly name = 'RefusedUrl'
}

/**
 * Fetches URLs that an MCP server names, within rules: nothing nearer to this machine than the
 * server itself, no metadata services, HTTPS unless the server itself has none. Names are resolved
 * once, and the address that was checked is the one that is used. Redirects are answers. Of errors
 * only the code is left, so that no text of a server reaches a message or a log.
 * @param server its URL, from the configuration
 */
export function guardedFetch(server: URL, limits: FetchLimits = DEFAULT_LIMITS): GuardedFetch {
  return async (given, init = {}) => {
    const url = new URL(given)
    if (url.protocol !== 'https:' && url.protocol !== server.protocol) {
      throw new RefusedUrl('a URL that is not HTTPS')
    }
    const nearness = await serverNearness(server)
    const check = (address: string) => {
      if (!mayName(nearness, nearnessOf(address))) {
        throw new RefusedUrl('an address that the server must not name')
      }
    }
    const host = hostOf(url)
    if (isIP(host) !== 0) check(host)
    const signal = AbortSignal.timeout(limits.timeoutMs)
    const answer = await send(url, init, checkedLookup(check), signal)
    const body = await readBody(answer, limits.bodyBytes)
    return responseOf(answer, body)
  }
}

function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

/** The farthest of its addresses; this machine only if its name says so. */
async function serverNearness(server: URL): Promise<Nearness> {
  const host = hostOf(server)
  if (isIP(host) !== 0) return nearnessOf(host)
  if (host === 'localhost' || host.endsWith('.localhost')) return 'loopback'
  const found = await lookup(host, { all: true }).catch(() => [])
  const isPrivate = found.length > 0 && found.every(each => nearnessOf(each.address) !== 'public')
  return isPrivate ? 'private' : 'public'
}

function checkedLookup(check: (address: string) => void): LookupFunction {
  return (hostname, options, done) => {
    resolveHost(hostname, options, (error, address, family) => {
      if (error !== null) return done(error, address, family)
      try {
        const all = typeof address === 'string' ? [{ address }] : (address as { address: string }[])
        for (const each of all) check(each.address)
      } catch (refused) {
        return done(refused as Error, address, family)
      }
      done(null, address, family)
    })
  }
}

function send(
  url: URL,
  init: RequestInit,
  lookupAddress: LookupFunction,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const headers = Object.fromEntries(new Headers(init.headers))
  const { body = null } = init
  if (body instanceof URLSearchParams && headers['content-type'] === undefined) {
    headers['content-type'] = 'application/x-www-form-urlencoded'
  }
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(url, {
    method: init.method ?? 'GET',
    headers: { 'user-agent': 'haversack', ...headers, 'accept-encoding': 'identity' },
    lookup: lookupAddress,
    agent: false,
    signal,
  })
  return new Promise((resolve, reject) => {
    request.on('error', reject)
    request.on('response', answer => {
      answer.on('error', reject)
      resolve(answer)
    })
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      reject(new Error('a change of protocol'))
    })
    request.end(body === null ? undefined : String(body))
  })
}

async function readBody(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const body = new GrownBytes(maxBytes)
  for await (const part of answer as AsyncIterable<Buffer>) {
    if (!body.add(part)) throw new Error('the answer is too large')
  }
  return body.take()
}

/** Answers without a body by their status. */
const EMPTY_STATUS = new Set([101, 204, 205, 304])

function responseOf(answer: IncomingMessage, body: Buffer): Response {
  const status = answer.statusCode ?? 502
  const headers = new Headers({ 'content-type': answer.headers['content-type'] ?? '' })
  const { location } = answer.headers
  if (location !== undefined) headers.set('location', location)
  const isError = status >= 400
  const content = isError ? Buffer.from(JSON.stringify({ error: errorCode(body) })) : body
  return new Response(EMPTY_STATUS.has(status) ? null : new Uint8Array(content), {
    status: status < 200 ? 502 : status,
    headers,
  })
}

/** The code of an error of OAuth. */
function errorCode(body: Buffer): string {
  try {
    const { error } = JSON.parse(body.toString()) as { error?: unknown }
    if (typeof error === 'string' && /^[a-z_]{1,64}$/.test(error)) return error
  } catch {
    // It is no JSON.
  }
  return 'server_error'
}
