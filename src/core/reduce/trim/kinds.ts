import { ObjectValue, type Value } from '../../json/value.ts'
import { type FieldRole, fieldFor, fieldsOf } from './field-names.ts'

/** The kinds of items of a list. */
export type ItemKind =
  | 'issue'
  | 'merge_request'
  | 'diff'
  | 'discussion'
  | 'comment'
  | 'item'
  | 'line'
  | 'section'

/** Kinds in the plural, as the chunk index names them. */
export const KIND_NOUNS: Readonly<Record<ItemKind, string>> = {
  issue: 'issues',
  merge_request: 'merge requests',
  diff: 'diffs',
  discussion: 'discussions',
  comment: 'comments',
  item: 'items',
  line: 'lines',
  section: 'sections',
}

/**
 * An object has the first kind whose rule it meets: it has a field for each of these roles, and no
 * field for the other roles.
 */
const RULES: readonly {
  readonly kind: ItemKind
  readonly has: readonly FieldRole[]
  readonly lacks?: readonly FieldRole[]
}[] = [
  { kind: 'diff', has: ['path', 'patch'] },
  { kind: 'diff', has: ['path', 'additions', 'deletions'] },
  { kind: 'merge_request', has: ['title', 'state', 'source', 'target'] },
  { kind: 'merge_request', has: ['title', 'draft'] },
  { kind: 'issue', has: ['title', 'state', 'id'] },
  { kind: 'comment', has: ['body', 'author'], lacks: ['title', 'replies'] },
]

/** Items that are looked at to find the kind of a list. */
const SAMPLE = 20

/** The kind of most of the first items. */
export function kindOfItems(items: readonly Value[]): ItemKind {
  const counts = new Map<ItemKind, number>()
  for (const item of items.slice(0, SAMPLE)) {
    const kind = item instanceof ObjectValue ? kindOf(item) : 'item'
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const [most] = [...counts].sort(([, a], [, b]) => b - a)
  return most?.[0] ?? 'item'
}

function kindOf(item: ObjectValue): ItemKind {
  const fields = fieldsOf(item)
  const has = (role: FieldRole): boolean => fieldFor(fields, role) !== undefined
  if (!has('title') && isThread(fieldFor(fields, 'replies'))) return 'discussion'
  const rule = RULES.find(
    rule => rule.has.every(has) && !(rule.lacks?.some(role => has(role)) ?? false),
  )
  return rule?.kind ?? 'item'
}

/** Whether a member is the comments of a thread. */
export function isThread(value: Value | undefined): value is readonly Value[] {
  return (
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      reply => reply instanceof ObjectValue && fieldFor(fieldsOf(reply), 'body') !== undefined,
    )
  )
}
