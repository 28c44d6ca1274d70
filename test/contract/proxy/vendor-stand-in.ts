import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { VendorName } from '../../../src/core/dialects/lookup.ts'
import { front, httpUpstream } from '../../integration/proxy/stand-in.ts'

/** A request as the stand-in got it. */
export interface Recorded {
  readonly line: string
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
  /** Resolves when its connection or its exchange is over: whether the answer was complete. */
  readonly over: Promise<boolean>
}

/** Answers the n-th request, from 0; `request` is what was recorded of it. */
export type Script = (
  response: ServerResponse,
  request: Recorded,
  n: number,
) => void | Promise<void>

/** A vendor's API of scripted answers, and a proxy before it. */
export interface VendorStandIn {
  /** URLs of the stand-in itself, and of the proxy. */
  readonly direct: string
  readonly proxied: string
  readonly requests: readonly Recorded[]
}

export async function vendorStandIn(vendor: VendorName, script: Script): Promise<VendorStandIn> {
  const requests: Recorded[] = []
  const base = await httpUpstream(async (incoming, response) => {
    const over = new Promise<boolean>(resolve => {
      response.once('close', () => resolve(response.writableFinished))
    })
    const request = { ...recordOf(incoming), body: await buffer(incoming), over }
    const n = requests.push(request) - 1
    await script(response, request, n)
  })
  const proxy = await front({ base, vendor })
  return { direct: base.origin, proxied: `${proxy.url.origin}/api`, requests }
}

/** What a client says beyond where it says it: two runs of it should be the same. */
export function sayings({ line, rawHeaders, body }: Recorded): readonly string[] {
  const headers: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    // These belong to the hop; keys of idempotency are drawn anew.
    if (/^(?:host|connection|(?:x-stainless-)?idempotency-key)$/i.test(name)) continue
    headers.push(`${name}: ${rawHeaders[at + 1]}`)
  }
  return [line, ...headers, body.toString('latin1')]
}

/** Answers JSON with more headers. */
export function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json',
    'request-id': 'req_1',
    ...headers,
  })
  response.end(JSON.stringify(body))
}

function recordOf({ method, url, rawHeaders }: IncomingMessage) {
  return { line: `${method} ${url}`, rawHeaders }
}
