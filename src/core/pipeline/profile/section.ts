import { z } from 'zod'

type Shape = Readonly<Record<string, z.ZodType>>
type Defaults<Keys extends Shape> = { readonly [Key in keyof Keys]?: z.input<Keys[Key]> }
type WithDefaults<Keys extends Shape, Given> = {
  [Key in keyof Keys]: Key extends keyof Given ? z.ZodDefault<Keys[Key]> : Keys[Key]
}

/** A table of the file with these keys and no others. Keys that have a default may be absent. */
export function section<Keys extends Shape, Given extends Defaults<Keys>>(
  defaults: Given,
  keys: Keys,
) {
  const entries = Object.entries(keys).map(([key, schema]) => {
    return [key, Object.hasOwn(defaults, key) ? schema.default(defaults[key]) : schema]
  })
  return z.strictObject(Object.fromEntries(entries) as WithDefaults<Keys, Given>)
}
