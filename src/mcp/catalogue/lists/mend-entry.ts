import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { withMember, withoutMember } from '../../members.ts'
import type { ListKind } from '../catalogue.ts'
import {
  DROPPED,
  isEmptyArray,
  isObject,
  mendInputSchema,
  mendOutputSchema,
  REFUSED,
} from './schema-form.ts'

/** An entry of a list as the protocol wants it. */
export type Mended =
  | { readonly kind: 'fine' }
  /** `members`: those that were wrong. */
  | { readonly kind: 'mended'; readonly raw: JsonBytes; readonly members: readonly string[] }
  | { readonly kind: 'left out'; readonly members: readonly string[] }

/**
 * Gives a member's value as it must be: the same, another one, `DROPPED` or `REFUSED`. `undefined`:
 * it is not there.
 */
type Check = (value: unknown, entry: Readonly<Record<string, unknown>>) => unknown

const optional =
  (isRight: (value: unknown) => boolean): Check =>
  value =>
    value === undefined || isRight(value) ? value : DROPPED

const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isNumber = (value: unknown) => typeof value === 'number'
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText)
const text = optional(isText)
const object: Check = value => {
  if (value === undefined || isObject(value)) return value
  return isEmptyArray(value) ? {} : DROPPED
}

/** An object whose members are right, or are left out. */
const objectOf =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value, entry) => {
    const own = object(value, entry)
    if (!isObject(own)) return own
    const wrong = wrongMembers(own, checks)
    return wrong.length === 0 ? own : withChanges(own, wrong)
  }

const ICONS = optional(
  value =>
    Array.isArray(value) &&
    value.every(
      each =>
        isObject(each) &&
        isText(each['src']) &&
        [each['mimeType'] ?? '', each['theme'] ?? 'light'].every(isText) &&
        ['light', 'dark'].includes((each['theme'] ?? 'light') as string) &&
        each['mimeType'] !== null &&
        each['theme'] !== null &&
        (each['sizes'] === undefined || isTexts(each['sizes'])),
    ),
)

const COMMON = { title: text, description: text, icons: ICONS, _meta: object }

const FLAGS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

const ANNOTATIONS = objectOf({
  audience: optional(
    value => Array.isArray(value) && value.every(each => each === 'user' || each === 'assistant'),
  ),
  priority: optional(value => isNumber(value) && (value as number) >= 0 && (value as number) <= 1),
  lastModified: optional(
    value =>
      isText(value) && TIME.test(value as string) && !Number.isNaN(Date.parse(value as string)),
  ),
})

/** A prompt without one of its arguments cannot be asked for. */
const PROMPT_ARGUMENTS: Check = (value, entry) => {
  if (value === undefined) return value
  if (value === null || (isObject(value) && Object.keys(value).length === 0)) return DROPPED
  if (!Array.isArray(value)) return REFUSED
  const own = value.map(each =>
    isObject(each) && isText(each['name']) ? ARGUMENT(each, entry) : null,
  )
  if (own.includes(null)) return REFUSED
  return own.every((each, i) => each === value[i]) ? value : own
}
const ARGUMENT = objectOf({ title: text, description: text, required: optional(isFlag) })

/** Resources have a name; it is shown to users. */
const nameOr =
  (key: string): Check =>
  (value, entry) =>
    isText(value) ? value : entry[key]

const CHECKS: Record<ListKind, Readonly<Record<string, Check>>> = {
  tools: {
    ...COMMON,
    inputSchema: mendInputSchema,
    outputSchema: mendOutputSchema,
    annotations: objectOf({
      title: text,
      ...Object.fromEntries(FLAGS.map(name => [name, optional(isFlag)])),
    }),
    execution: objectOf({
      taskSupport: optional(value =>
        ['required', 'optional', 'forbidden'].includes(value as string),
      ),
    }),
  },
  prompts: { ...COMMON, arguments: PROMPT_ARGUMENTS },
  resources: {
    ...COMMON,
    name: nameOr('uri'),
    mimeType: text,
    size: optional(isNumber),
    annotations: ANNOTATIONS,
  },
  templates: { ...COMMON, name: nameOr('uriTemplate'), mimeType: text, annotations: ANNOTATIONS },
}

type ValueChange = readonly [name: string, value: unknown]

function wrongMembers(
  value: Readonly<Record<string, unknown>>,
  checks: Readonly<Record<string, Check>>,
): readonly ValueChange[] {
  return Object.entries(checks).flatMap(([name, check]): ValueChange[] => {
    const own = Object.hasOwn(value, name) ? value[name] : undefined
    const right = check(own, value)
    return right === own ? [] : [[name, right]]
  })
}

function withChanges(
  value: Readonly<Record<string, unknown>>,
  changes: readonly ValueChange[],
): object {
  const all = new Map([...Object.entries(value), ...changes])
  return Object.fromEntries([...all].filter(([, each]) => each !== DROPPED))
}

/**
 * Mends an entry whose form alone is wrong, as clients refuse a whole list for one such entry. All
 * bytes of members that are right stay.
 * @param raw a JSON object with its name or URI
 */
export function mendEntry(kind: ListKind, raw: JsonBytes): Mended {
  const entry = JSON.parse(raw.toString()) as Record<string, unknown>
  const wrong = wrongMembers(entry, CHECKS[kind])
  const names = wrong.map(([name]) => name)
  if (wrong.length === 0) return { kind: 'fine' }
  const mended = wrong.some(([, value]) => value === REFUSED) ? null : changed(raw, wrong)
  return mended === null
    ? { kind: 'left out', members: names }
    : { kind: 'mended', raw: mended, members: names }
}

/** @returns `null` if a member is there twice, or is nested too deeply to be written */
function changed(raw: JsonBytes, changes: readonly ValueChange[]): JsonBytes | null {
  try {
    let bytes: JsonBytes | null = raw
    for (const [name, value] of changes) {
      if (bytes === null) return null
      bytes =
        value === DROPPED
          ? withoutMember(bytes, name)
          : withMember(bytes, name, JSON.stringify(value))
    }
    return bytes
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
