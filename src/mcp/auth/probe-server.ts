import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { Guard } from '../../proxy/guard.ts'
import { exchange } from '../upstream/http-exchange.ts'
import type { UpstreamRefusal } from '../upstream/options.ts'
import { AuthFailure } from './auth-failure.ts'

const PROBE_MS = 10_000

const BODY = Buffer.from(
  '{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{' +
    '"io.modelcontextprotocol/protocolVersion":"2026-07-28",' +
    '"io.modelcontextprotocol/clientCapabilities":{}}}}',
)

/**
 * Asks a server with these credentials, or without any, to see what it answers.
 * @throws AuthFailure if it cannot be reached
 */
export async function probeServer(
  server: URL,
  headers: Readonly<Record<string, string>>,
): Promise<UpstreamRefusal> {
  const agent = server.protocol === 'https:' ? new HttpsAgent() : new HttpAgent()
  const end = await exchange({
    method: 'POST',
    url: server,
    body: BODY,
    agent,
    signal: AbortSignal.timeout(PROBE_MS),
    guard: new Guard(() => {}),
    headers: {
      'user-agent': 'haversack',
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'server/discover',
      ...headers,
    },
  })
  agent.destroy()
  if (end.kind !== 'head') throw new AuthFailure('the server cannot be reached')
  end.answer.destroy()
  const { statusCode = 0, headers: answered } = end.answer
  return { status: statusCode, authenticate: answered['www-authenticate'] ?? null }
}
