import { textMember } from '../members.ts'
import type { Era } from './connection.ts'
import type { LinkRequest } from './link.ts'

/** The parameter that `Mcp-Name` repeats, by method. */
export const NAMED_BY: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
}

/** Configured headers that would change how a request is framed, or what it is. */
const OURS =
  /^(?:host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-(?:session-id|protocol-version|method|name)|last-event-id)$/

/** Configured headers, without those that the transport sets. */
export function configuredHeaders(
  headers: Readonly<Record<string, string>>,
): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return Object.fromEntries(entries.filter(([name]) => !OURS.test(name as string)))
}

/** The headers of a modern request that repeat what its body says. */
export function mirrorHeaders({ method, params, mirrored }: LinkRequest): Record<string, string> {
  const parameter = NAMED_BY[method]
  const name = params === null || parameter === undefined ? null : textMember(params, parameter)
  const others = Object.entries(mirrored).map(([header, value]) => [header, headerValue(value)])
  return {
    'mcp-method': headerValue(method),
    ...(name === null ? {} : { 'mcp-name': headerValue(name) }),
    ...Object.fromEntries(others),
  }
}

/** The header that names the revision; none before the handshake of a legacy server. */
export function versionHeader(version: string | null): Record<string, string> {
  return version === null ? {} : { 'mcp-protocol-version': version }
}

/** What an answer may be. */
export function acceptHeader(method: 'GET' | 'POST' | 'DELETE', era: Era): Record<string, string> {
  if (method === 'DELETE') return {}
  if (method === 'GET' && era === 'legacy') return { accept: 'text/event-stream' }
  return { accept: 'application/json, text/event-stream' }
}

/**
 * A text as the value of a header: plain visible ASCII as it is, anything else in Base64 within a
 * wrapper.
 */
export function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text)
  const isLikeWrapped = text.startsWith('=?base64?') && text.endsWith('?=')
  return isPlain && !isLikeWrapped ? text : `=?base64?${Buffer.from(text).toString('base64')}?=`
}
