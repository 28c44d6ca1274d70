import { timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Where a browser comes back to after the user has decided. */
export interface CallbackListener {
  readonly url: string
  readonly port: number
  /** Resolves with the parameters of the first return that belongs to this flow. */
  readonly returned: Promise<URLSearchParams>
  /**
   * Takes the URL that a browser could not open, because it runs on another machine.
   * @returns whether it belongs to this flow
   */
  take(url: string): boolean
  close(): void
}

const PATH = '/callback'

/**
 * Listens on loopback only.
 * @param state what the return must carry
 * @param ports tried in turn; 0 is any
 * @throws if none is free
 */
export async function listenForCallback(
  state: string,
  ports: readonly number[],
): Promise<CallbackListener> {
  const { promise: returned, resolve } = Promise.withResolvers<URLSearchParams>()
  const accept = (url: URL): boolean => {
    const given = Buffer.from(url.searchParams.get('state') ?? '')
    const expected = Buffer.from(state)
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
    resolve(url.searchParams)
    return true
  }
  const server = createServer((request, response) => answer(request, response, accept))
  server.headersTimeout = 10_000
  server.requestTimeout = 10_000
  let failure: unknown
  for (const port of ports) {
    const used = await listen(server, port).catch((error: unknown) => {
      failure = error
      return null
    })
    if (used === null) continue
    const url = `http://127.0.0.1:${used}${PATH}`
    return {
      url,
      port: used,
      returned,
      take(text) {
        const given = URL.parse(text.trim())
        return given !== null && `${given.origin}${given.pathname}` === url && accept(given)
      },
      close() {
        server.close()
        server.closeAllConnections()
      },
    }
  }
  throw failure
}

function listen(server: ReturnType<typeof createServer>, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

function answer(
  { method, url = '', headers }: IncomingMessage,
  response: ServerResponse,
  accept: (url: URL) => boolean,
): void {
  const target = URL.parse(url, 'http://127.0.0.1')
  const isOurs = /^(?:127\.0\.0\.1|localhost)(?::\d+)?$/.test(headers.host ?? '')
  const isReturn = method === 'GET' && target?.pathname === PATH && isOurs
  const isAccepted = isReturn && accept(target)
  const text = isAccepted
    ? 'You can close this window.'
    : 'This is not the return that is expected.'
  response.writeHead(isAccepted ? 200 : 404, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  })
  response.end(`${text}\n`)
}
