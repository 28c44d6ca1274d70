import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** The parts of the library, in the order in which they use each other. */
const PARTS = [
  'base',
  'bodies',
  'records',
  'state',
  'contact',
  'sessions',
  'upkeep',
  'redo',
  'rates',
  'together',
  'register',
] as const

/** Functions of the library, by what they do. */
export type FunctionName =
  | 'get'
  | 'read_record'
  | 'stats'
  | 'list'
  | 'put'
  | 'touch'
  | 'used'
  | 'write_record'
  | 'claim_records'
  | 'open_session'
  | 'append_change'
  | 'settle_turn'
  | 'renew_session'
  | 'discard'
  | 'delete_record'
  | 'disown_session'
  | 'purge_session'
  | 'disown_tenant'
  | 'purge_generation'
  | 'sweep'
  | 'evict'
  | 'redo'
  | 'lease_rate'
  | 'hold_places'
  | 'note_process'
  | 'note_contact'
  | 'redo_purge'

/** Functions that change nothing; they also work on a server that takes no writes. */
export const READS: ReadonlySet<FunctionName> = new Set(['get', 'read_record', 'stats', 'list'])

/** Functions that add something. They are refused while the server may evict it. */
export const ADDING: ReadonlySet<FunctionName> = new Set([
  'put',
  'write_record',
  'claim_records',
  'open_session',
  'append_change',
  'settle_turn',
])

/** Functions whose calls may travel together. None of them runs while the server is full. */
export const TOGETHER: ReadonlySet<FunctionName> = new Set([
  'get',
  'read_record',
  'put',
  'touch',
  'used',
  'write_record',
  'claim_records',
  'open_session',
  'append_change',
  'settle_turn',
])

/** Functions whose last argument is the server's time after which they have no effect. */
export const TIMED: ReadonlySet<FunctionName> = new Set([
  'disown_session',
  'disown_tenant',
  'claim_records',
  'open_session',
  'append_change',
  'settle_turn',
])

/** Functions that answer with a number, not with a list. */
const COUNTING: ReadonlySet<FunctionName> = new Set([
  'used',
  'renew_session',
  'discard',
  'purge_generation',
  'evict',
  'hold_places',
])

/** Whether an answer is of the kind that the function gives. */
export function isAnswerOf(name: FunctionName, reply: unknown): boolean {
  return COUNTING.has(name) ? typeof reply === 'number' : Array.isArray(reply)
}

export interface Library {
  /** Differs between any two versions of the text. */
  readonly name: string
  /** For `FUNCTION LOAD`. */
  readonly text: string
  /** The server's name of a function. */
  functionOf(name: FunctionName | 'together' | 'read_together'): string
}

const PREFIX = 'haversack_'

/** Whether a library of this name is one of ours, of any version. */
export function isOwnLibrary(name: string): boolean {
  return name.startsWith(PREFIX)
}

/**
 * The functions that run inside Redis. Library and functions are named by the hash of the text, so
 * that two versions of the service can use one server side by side.
 */
export function readLibrary(): Library {
  const files = PARTS.map(part => new URL(`./library/${part}.lua`, import.meta.url))
  const body = files.map(file => readFileSync(file, 'utf8')).join('\n')
  const tag = hash('sha256', body).slice(0, 8)
  const name = PREFIX + tag
  return {
    name,
    text: `#!lua name=${name}\n${body.replaceAll('VERSION_TAG', `hvs_${tag}`)}`,
    functionOf: each => `hvs_${tag}_${each}`,
  }
}
