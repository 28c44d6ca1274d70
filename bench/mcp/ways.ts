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
