/** What a check says of a value that cannot be kept, nor mended. */
export const REFUSED = Symbol('refused')
/** The member is left out. */
export const DROPPED = Symbol('dropped')

type Members = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether it is the empty array, which PHP writes for an empty object. */
export function isEmptyArray(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0
}

/**
 * The schema of a tool's input as the protocol wants it: of type `object`, with an object for
 * `properties` and each of them, and an array of texts for `required`.
 * @returns the same value if it is right; `REFUSED` if more than its form is wrong
 */
export function mendInputSchema(value: unknown): unknown {
  if (value === undefined || value === null || isEmptyArray(value)) return { type: 'object' }
  if (!isObject(value)) return REFUSED
  const { type } = value
  const isTyped = type === undefined || type === null || type === 'object'
  if (!isTyped && !(Array.isArray(type) && type.includes('object'))) return REFUSED
  return mendParts(type === 'object' ? value : { ...value, type: 'object' })
}

/** @returns `DROPPED` for what no validator can be made of; results need no schema */
export function mendOutputSchema(value: unknown): unknown {
  if (value === undefined) return undefined
  if (!isObject(value)) return DROPPED
  const mended = value['type'] === 'object' ? mendParts(value) : value
  return mended !== REFUSED && isSound(mended, mended as Members) ? mended : DROPPED
}

function mendParts(schema: Members): unknown {
  let mended: Members = schema
  const { properties, required } = schema
  if (properties !== undefined) {
    const own = mendProperties(properties)
    if (own === REFUSED) return REFUSED
    if (own !== properties) mended = { ...mended, properties: own }
  }
  if (required === undefined) return mended
  if (Array.isArray(required)) {
    const names = required.filter(each => typeof each === 'string')
    return names.length === required.length ? mended : { ...mended, required: names }
  }
  const { required: _, ...rest } = mended
  return rest
}

function mendProperties(value: unknown): unknown {
  if (value === null || isEmptyArray(value)) return {}
  if (!isObject(value)) return REFUSED
  const wrong = Object.entries(value).filter(
    ([, each]) => typeof each !== 'object' || each === null,
  )
  const arrays = Object.entries(value).filter(([, each]) => Array.isArray(each))
  if (wrong.length === 0 && arrays.length === 0) return value
  const own: [string, unknown][] = []
  for (const [name, each] of Object.entries(value)) {
    if (each === true || each === null || isEmptyArray(each)) own.push([name, {}])
    else if (each === false) own.push([name, { not: {} }])
    else if (isObject(each)) own.push([name, each])
    else return REFUSED
  }
  return Object.fromEntries(own)
}

const TYPES: ReadonlySet<unknown> = new Set([
  ...['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'],
])
/** Members that are schemas, lists of them, and objects of them. */
const ONE = [
  'additionalProperties',
  'not',
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
] as const
const MANY = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const
const NAMED = [
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
] as const

/** Deeper schemas are not looked at, and count as unsound. */
const MAX_DEPTH = 64

/**
 * Whether clients can make a validator of a JSON schema: those of the official SDK make one for
 * each tool when they list them, and list none if one cannot be made.
 */
function isSound(schema: unknown, root: Members, depth = 0): boolean {
  if (typeof schema === 'boolean') return true
  if (!isObject(schema) || depth > MAX_DEPTH) return false
  const { type, required, enum: values, pattern, $ref: reference, items } = schema
  const isFine = (each: unknown) => isSound(each, root, depth + 1)
  const isAbsentOr = (value: unknown, holds: (value: unknown) => boolean) =>
    value === undefined || holds(value)
  return (
    isAbsentOr(type, each =>
      Array.isArray(each) ? each.every(one => TYPES.has(one)) : TYPES.has(each),
    ) &&
    isAbsentOr(
      required,
      each => Array.isArray(each) && each.every(one => typeof one === 'string'),
    ) &&
    isAbsentOr(values, each => Array.isArray(each)) &&
    isAbsentOr(pattern, isPattern) &&
    isAbsentOr(reference, each => refersTo(root, each)) &&
    isAbsentOr(items, each => (Array.isArray(each) ? each.every(isFine) : isFine(each))) &&
    ONE.every(name => isAbsentOr(schema[name], isFine)) &&
    MANY.every(name =>
      isAbsentOr(schema[name], each => Array.isArray(each) && each.every(isFine)),
    ) &&
    NAMED.every(name =>
      isAbsentOr(schema[name], each => isObject(each) && Object.values(each).every(isFine)),
    )
  )
}

function isPattern(value: unknown): boolean {
  try {
    return typeof value === 'string' && new RegExp(value, 'u') !== null
  } catch {
    return false
  }
}

/** Whether a `$ref` names a place in the same schema (RFC 6901). */
function refersTo(root: Members, reference: unknown): boolean {
  if (reference === '#') return true
  if (typeof reference !== 'string' || !reference.startsWith('#/')) return false
  let at: unknown = root
  for (const part of reference.slice(2).split('/')) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at !== undefined
}
