import { z } from 'zod'
import { AppError, type FieldError } from '../base/errors.ts'

/** Most violations that one error lists; a hostile body can hold a million. */
const MAX_ERRORS = 20

/**
 * Parses `input` by `schema`.
 * @throws AppError `invalid_request` with one entry per violation; an unknown field is named
 * together with the fields that exist at its place.
 */
export function validate<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const { issues } = result.error
  const errors = issues.slice(0, MAX_ERRORS).flatMap(issue => toFieldErrors(schema, issue))
  const first = errors[0]
  throw new AppError(
    'invalid_request',
    first === undefined
      ? 'does not match the schema'
      : `${first.path || '(body)'}: ${first.message}`,
    { errors: errors.slice(0, MAX_ERRORS) },
  )
}

function toFieldErrors(schema: z.ZodType, issue: z.core.$ZodIssue): FieldError[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }]
  const known = knownKeys(schema, issue.path)
  return issue.keys.slice(0, MAX_ERRORS).map(key => ({
    path: path === '' ? shorten(key) : `${path}.${shorten(key)}`,
    message: `unknown field; known here: ${known.join(', ')}`,
  }))
}

function shorten(key: string): string {
  return key.length <= 64 ? key : `${key.slice(0, 64)}…`
}

/** The field names that `schema` has at `path`; empty if it has none. */
function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = unwrap(schema)
  for (const step of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element)
    else if (at instanceof z.ZodObject) at = unwrap(at.shape[String(step)])
    else return []
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : []
}

function unwrap(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? unwrap(schema.unwrap()) : schema
}
