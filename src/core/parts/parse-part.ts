import { invalidPart } from './invalid-part.ts'
import type { PartSelector } from './part.ts'
import { parsePath } from './path-steps.ts'
import { parseRange } from './range.ts'

/** The query parameters that choose a part, not yet parsed. */
export interface PartQuery {
  readonly lines?: string
  readonly bytes?: string
  readonly path?: string
  readonly grep?: string
  /** Lines around each match of `grep`. */
  readonly context?: string
  /** `true` or `false`; for `grep`. */
  readonly ignore_case?: string
}

const KINDS = ['lines', 'bytes', 'path', 'grep'] as const
const MAX_NEEDLE_CHARS = 1024
const MAX_CONTEXT = 20

/**
 * Reads which part is wanted; `undefined`: the whole body.
 * @throws AppError `invalid_request` that names the parameter
 */
export function parsePart(query: PartQuery): PartSelector | undefined {
  const isInText = query.path !== undefined && query.lines !== undefined
  const kinds = isInText ? KINDS.filter(name => name !== 'lines') : KINDS
  const [kind, second] = kinds.filter(name => query[name] !== undefined)
  if (second !== undefined) throw invalidPart(second, `cannot be combined with ${kind}`)
  for (const name of ['context', 'ignore_case'] as const) {
    if (query[name] !== undefined && kind !== 'grep') throw invalidPart(name, 'belongs to grep')
  }
  if (kind === undefined) return undefined
  if (kind === 'path') {
    const lines = isInText ? { lines: parseRange('lines', query.lines!) } : {}
    return { kind, steps: parsePath(query.path!), ...lines }
  }
  if (kind !== 'grep') return { kind, range: parseRange(kind, query[kind]!) }
  return {
    kind,
    text: needle(query.grep!),
    context: contextLines(query.context),
    ignoreCase: flag(query.ignore_case),
  }
}

function needle(text: string): string {
  if (text === '' || text.length > MAX_NEEDLE_CHARS) {
    throw invalidPart('grep', `is 1 to ${MAX_NEEDLE_CHARS} characters`)
  }
  if (text.includes('\n'))
    throw invalidPart('grep', 'is searched in each line; it has a line break')
  return text
}

function contextLines(text: string | undefined): number {
  if (text === undefined) return 0
  const lines = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN
  if (!(lines <= MAX_CONTEXT)) throw invalidPart('context', `is a number from 0 to ${MAX_CONTEXT}`)
  return lines
}

function flag(text: string | undefined): boolean {
  if (text !== undefined && text !== 'true' && text !== 'false') {
    throw invalidPart('ignore_case', 'is true or false')
  }
  return text === 'true'
}
