import type { Failure } from '../store.ts'
import { failureOf, NO_REDIS } from './failures.ts'

/** What is asked to know whether a server can be used. */
export const INFO_COMMAND = ['INFO', 'server', 'memory', 'replication'] as const

const POLICY = /maxmemory_policy:([\w-]+)/
const ROLE = /role:(\w+)/

/** Why a server with this answer to `INFO` is not the one that we need; `undefined` if it is. */
export function faultOf(info: string): Failure | undefined {
  if (!info.includes('redis_version:')) return NO_REDIS
  return ROLE.exec(info)?.[1] === 'slave' ? failureOf(new Error('READONLY')) : undefined
}

/** What a server with this answer to `INFO` does when its memory is full. */
export function policyOf(info: string): string {
  return POLICY.exec(info)?.[1] ?? 'noeviction'
}
