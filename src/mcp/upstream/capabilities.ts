import { member } from '../members.ts'
import type { ServerFacts } from './connection.ts'

/** Whether a server states this capability. */
export function hasCapability({ capabilities }: ServerFacts, name: string): boolean {
  const value = member(capabilities, name)
  return value !== undefined && value !== null
}
