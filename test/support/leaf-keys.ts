import type { z } from 'zod'

type Schema = z.core.JSONSchema.BaseSchema

/** The dotted names of all keys that are no tables; `*` is any name. */
export function leafKeys(schema: Schema, path: readonly string[] = []): readonly string[] {
  const { properties, additionalProperties: any } = schema
  const inner = properties ?? (typeof any === 'object' ? { '*': any } : undefined)
  if (inner === undefined) return [path.join('.')]
  return Object.entries(inner).flatMap(([key, of]) => leafKeys(of as Schema, [...path, key]))
}
