import { fileURLToPath } from 'node:url'
import type { Outcome } from '../../../src/mcp/json-rpc.ts'
import { connectUpstream } from '../../../src/mcp/upstream/connect-upstream.ts'
import type {
  CallEnd,
  UpstreamCall,
  UpstreamConnection,
} from '../../../src/mcp/upstream/connection.ts'
import type { ServerTarget, UpstreamOptions } from '../../../src/mcp/upstream/options.ts'
import type { Verdicts } from '../../../src/mcp/upstream/verdicts.ts'
import { bundledWorker } from '../bundled-worker.ts'

const RAW_UPSTREAM = fileURLToPath(bundledWorker(new URL('./raw-upstream.ts', import.meta.url)))

/** What a connection reported, in its order; parameters as text. */
export interface Reported {
  readonly events: string[]
}

export function rawTarget(era: string, env: Record<string, string> = {}): ServerTarget {
  return {
    kind: 'stdio',
    command: process.execPath,
    args: [RAW_UPSTREAM],
    env: { UPSTREAM_ERA: era, ...env },
    cwd: null,
    processEnvironment: process.env,
  }
}

export function httpTarget(url: string | URL, headers: Record<string, string> = {}): ServerTarget {
  return { kind: 'http', url: new URL(url), headers: () => headers }
}

/** A verdict that spares the probe. */
export function knownEra(era: 'modern' | 'legacy'): Verdicts {
  const version = era === 'modern' ? '2026-07-28' : '2025-11-25'
  return new Map([['test', { era, version, until: Number.POSITIVE_INFINITY }]])
}

/** A busy machine is no failure, even by a clock that runs fast. */
const PATIENT = { probeMs: 1e6, handshakeMs: 1e6, firstWaitMs: 1e6, downWaitMs: 1e6 }

/** A connection whose reports are kept. */
export function connectTo(
  target: ServerTarget,
  options: Partial<UpstreamOptions> = {},
): Reported & { readonly connection: UpstreamConnection } {
  const events: string[] = []
  const connection = connectUpstream({
    name: 'test',
    target,
    claims: {
      capabilities: Buffer.from('{"sampling":{},"x":1.0}'),
      clientInfo: Buffer.from('{"name":"client","version":"1.0"}'),
    },
    verdicts: new Map(),
    verdictKey: 'test',
    listener: {
      onNotification: (method, params) => void events.push(`${method} ${params}`),
      onRequest: (method, params) => {
        events.push(`request ${method} ${params}`)
        return Promise.resolve(resultOf('{"roots":[]}'))
      },
      onConnected: ({ era }) => void events.push(`connected ${era}`),
      onLost: () => void events.push('lost'),
    },
    ...options,
    limits: { ...PATIENT, ...options.limits },
  })
  return { connection, events }
}

export function resultOf(json: string): Outcome {
  return { kind: 'result', result: Buffer.from(json) }
}

/** A call whose notifications are kept, as text. */
export function callOf(
  method: string,
  params: string | null,
  options: Partial<UpstreamCall> = {},
): UpstreamCall & { readonly notified: string[] } {
  const notified: string[] = []
  return {
    method,
    params: params === null ? null : Buffer.from(params),
    signal: new AbortController().signal,
    timeoutMs: 600_000,
    canRepeat: false,
    notify: (name, sent) => void notified.push(`${name} ${sent}`),
    ask: () => Promise.resolve(resultOf('{"asked":1.0}')),
    notified,
    ...options,
  }
}

/** A call of a tool of the raw upstream. */
export function toolCall(
  name: string,
  options: Partial<UpstreamCall> = {},
): ReturnType<typeof callOf> {
  return callOf('tools/call', `{"name":"${name}"}`, options)
}

/** How a call ended, as text where it was answered. */
export function textOfEnd(end: CallEnd): string | Exclude<CallEnd, { kind: 'answered' }> {
  if (end.kind !== 'answered') return end
  const { outcome } = end
  return String(outcome.kind === 'result' ? outcome.result : outcome.error)
}

/** The message that an `echo` got. */
export function receivedBy(end: CallEnd): string {
  return JSON.parse(textOfEnd(end) as string).received
}
