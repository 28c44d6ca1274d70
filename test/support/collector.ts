import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** A span as OTLP spells it in JSON. */
export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly { key: string; value: Record<string, unknown> }[]
  readonly status?: { code?: number }
}

export interface Collector {
  readonly url: string
  readonly spans: Span[]
  /** The bodies as they came. */
  readonly bodies: string[]
  readonly requests: number
  close(): Promise<void>
}

/** An OTLP/HTTP collector; one that `hangs` takes every connection and answers none. */
export async function startCollector({ hangs = false } = {}): Promise<Collector> {
  const spans: Span[] = []
  const bodies: string[] = []
  let requests = 0
  const server = createServer(async (incoming, outgoing) => {
    requests++
    if (hangs) return
    const body = await text(incoming)
    bodies.push(body)
    if (incoming.url === '/v1/traces') spans.push(...spansOf(body))
    outgoing.setHeader('content-type', 'application/json').end('{}')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    bodies,
    get requests() {
      return requests
    },
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

interface Export {
  readonly resourceSpans: readonly { scopeSpans: readonly { spans: readonly Span[] }[] }[]
}

function spansOf(body: string): Span[] {
  return (JSON.parse(body) as Export).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans),
  )
}
