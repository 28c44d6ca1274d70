import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import type { ExchangeOutcome } from './failures.ts'
import type { Guard } from './guard.ts'

/** One end of a tunnel: its stream, and what was read from it before the tunnel stood. */
export interface TunnelEnd {
  readonly stream: Duplex
  readonly head: Uint8Array
}

export interface TunnelOptions {
  readonly guard: Guard
  readonly idleMs: number
  /** Called once, with the bytes from client to upstream and back. */
  readonly ended: (outcome: ExchangeOutcome, sent: number, received: number) => void
}

/**
 * Joins two connections that were upgraded: bytes go both ways as they come, with back-pressure;
 * the end of one side is passed to the other; a failure of one, or `idleMs` without a byte, ends
 * both. Returns what ends it from outside.
 */
export function joinStreams(
  client: TunnelEnd,
  upstream: TunnelEnd,
  options: TunnelOptions,
): () => void {
  const moved = { sent: 0, received: 0 }
  let open = 2
  let outcome: ExchangeOutcome = 'answered'
  const idle = setTimeout(
    options.guard.wrap(() => end('timed_out')),
    options.idleMs,
  )

  function end(why: ExchangeOutcome): void {
    if (open === 2 || why === 'timed_out') outcome = why
    client.stream.destroy()
    upstream.stream.destroy()
  }

  function pass(
    from: TunnelEnd,
    to: TunnelEnd,
    way: keyof typeof moved,
    failed: ExchangeOutcome,
  ): void {
    if (from.head.length > 0) {
      moved[way] += from.head.length
      to.stream.write(from.head)
    }
    options.guard.on(from.stream, 'data', (chunk: Buffer) => {
      moved[way] += chunk.length
      idle.refresh()
    })
    options.guard.on(from.stream, 'error', () => end(failed))
    options.guard.on(from.stream, 'close', () => {
      to.stream.end()
      if (--open > 0) return
      clearTimeout(idle)
      options.ended(outcome, moved.sent, moved.received)
    })
    from.stream.pipe(to.stream)
  }

  pass(client, upstream, 'sent', 'aborted')
  pass(upstream, client, 'received', 'broken')
  return () => end('closed')
}

/**
 * Whether a request asks for another protocol in a way that can be passed on: what a server's
 * `shouldUpgradeCallback` should say. It is false for a request with a body, and for h2c. Clients
 * offer h2c with ordinary requests, which are answered without it.
 */
export function wantsUpgrade({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade === undefined) return false
  if (headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0)
    return false
  return !/(?:^|[,\s])h2c(?:$|[,\s])/i.test(headers.upgrade)
}
