import { hash } from 'node:crypto'
import { posix } from 'node:path'
import type { NewEntry } from '../index/session-index.ts'

/** The fields of a request about the call whose result it has. */
export interface CallFacts {
  readonly tool?: string | undefined
  readonly args?: unknown
  readonly tool_call_id?: string | undefined
  readonly file_path?: string | undefined
}

/** Arguments that name the file, the most telling first. */
const PATH_ARGUMENTS = ['file_path', 'notebook_path', 'path', 'filename'] as const

/**
 * The effect of a call on its file. Once a file is written, every result about it from a tool that
 * does not write is stale, whatever that tool's name is: `Read`, `read` or `cat`.
 * @param mutating tools that write the file they are given
 */
export function kindOf(call: CallFacts, mutating: readonly string[]): NewEntry['kind'] {
  if (call.tool !== undefined && mutating.includes(call.tool)) return 'file-mutate'
  return pathOf(call) === undefined ? 'other' : 'file-read'
}

/**
 * The file that a call is about, in one spelling: `/` between names, no `.`, `..` or doubled `/` if
 * the path alone shows what they mean. Returns `undefined` if no file is named.
 */
export function pathOf({ file_path, args }: CallFacts): string | undefined {
  const named = file_path ?? pathArgument(args)
  if (named === undefined || named === '') return undefined
  const plain = posix.normalize(named.replaceAll('\\', '/'))
  return plain.length > 1 && plain.endsWith('/') ? plain.slice(0, -1) : plain
}

function pathArgument(args: unknown): string | undefined {
  if (typeof args !== 'object' || args === null) return undefined
  for (const name of PATH_ARGUMENTS) {
    const value = Object.hasOwn(args, name) ? (args as Record<string, unknown>)[name] : undefined
    if (typeof value === 'string') return value
  }
  return undefined
}

/** 32 bits of SHA-256, never 0, which means "not known"; 0 for `undefined`. */
export function hash32(text: string | undefined): number {
  if (text === undefined) return 0
  const digest = hash('sha256', Buffer.from(text, 'utf16le'))
  return Number.parseInt(digest.slice(0, 8), 16) | 0 || 1
}
