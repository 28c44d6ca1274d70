import { hash } from 'node:crypto'
import type { ListEntry } from '../catalogue.ts'

/** What tells two definitions of a tool apart: SHA-256 of its bytes, 16 hex digits. */
export function definitionHash({ raw }: ListEntry): string {
  return hash('sha256', raw, 'hex').slice(0, 16)
}
