import { fileURLToPath } from 'node:url'
import type { Peer } from './peer.ts'

/** The ways to the same upstream that are compared. */
export const WAYS = ['direct', 'relay', 'gateway'] as const
export type Way = (typeof WAYS)[number]

export interface Ways {
  readonly peers: Readonly<Record<Way, Peer>>
  close(): Promise<void>
}

/** A script of this folder. */
export function script(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

/** So that a client calls every tool through `call_tool`. */
export const SEARCH = '[mcp.search]\nmode = "always"\n'

/** A client that does so. */
export function callsBySearch(peer: Peer): Peer {
  return {
    ...peer,
    request: (method, params) =>
      method === 'tools/call'
        ? peer.request(method, `{"name":"call_tool","arguments":${params}}`)
        : peer.request(method, params),
  }
}
