import type { z } from 'zod'

/** The parts of a zod schema's definition that are walked. */
interface Definition {
  readonly type: string
  readonly innerType?: Schema
  readonly shape?: Readonly<Record<string, Schema>>
  readonly valueType?: Schema
  readonly keyType?: Schema
}

interface Schema {
  readonly _zod: { readonly def: Definition }
}

/**
 * The dotted names of all keys of a schema that hold a value of their own. Keys that a user chooses
 * are `*`. A list is one value.
 */
export function leavesOf(schema: z.ZodType): string[] {
  return walk(schema as unknown as Schema, '')
}

function walk(schema: Schema, path: string): string[] {
  const { innerType, shape, valueType, type } = schema._zod.def
  if (innerType !== undefined) return walk(innerType, path)
  const below = (name: string) => (path === '' ? name : `${path}.${name}`)
  if (type === 'object' && shape !== undefined) {
    return Object.entries(shape).flatMap(([name, inner]) => walk(inner, below(name)))
  }
  if (type === 'record' && valueType !== undefined) return walk(valueType, below('*'))
  return [path]
}
