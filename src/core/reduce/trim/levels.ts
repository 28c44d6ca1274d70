import type { Value } from '../../json/value.ts'
import { ObjectValue } from '../../json/value.ts'
import { FIELD_NAMES, type FieldRole, plainName } from './field-names.ts'
import type { ItemKind } from './kinds.ts'

/**
 * How much of an item is kept, from its name alone to all of it. Each level includes the one before
 * it.
 */
export const LEVELS = ['minimal', 'standard', 'full'] as const
export type Level = (typeof LEVELS)[number]

/** The value of a field of a level, so that every item is named before one is kept in full. */
export const LEVEL_VALUES: Readonly<Record<Level, number>> = { minimal: 4, standard: 2, full: 1 }

/**
 * Roles of fields by the level that they belong to. `levelOfOther` decides on fields without a role
 * here.
 */
interface LevelRule {
  readonly minimal: readonly FieldRole[]
  readonly standard: readonly FieldRole[]
}

const ISSUE: LevelRule = {
  minimal: ['id', 'title', 'state'],
  standard: ['source', 'level', 'labels', 'body', 'author', 'link'],
}

const RULES: Readonly<Record<ItemKind, LevelRule>> = {
  issue: ISSUE,
  merge_request: {
    minimal: [...ISSUE.minimal, 'source', 'target'],
    standard: ['draft', 'labels', 'body', 'author', 'link'],
  },
  diff: { minimal: ['id', 'path', 'state'], standard: ['additions', 'deletions', 'patch'] },
  discussion: {
    minimal: ['id', 'resolved', 'state'],
    standard: ['replies', 'author', 'path', 'body'],
  },
  comment: { minimal: ['id', 'author', 'body'], standard: ['created', 'resolved', 'path'] },
  item: {
    minimal: ['id', 'title', 'state', 'level', 'path'],
    standard: ['body', 'author', 'created'],
  },
  line: { minimal: [], standard: [] },
  section: { minimal: [], standard: [] },
}

/** Kinds of which only named fields are standard. Of other kinds, short fields are standard too. */
const NAMED_ONLY: ReadonlySet<ItemKind> = new Set(['issue', 'merge_request'])

const LEVELS_BY_NAME: ReadonlyMap<ItemKind, ReadonlyMap<string, Level>> = new Map(
  Object.entries(RULES).map(([kind, rule]) => [kind as ItemKind, byName(rule)]),
)

/** If a name plays two roles, the lower level counts. */
function byName({ minimal, standard }: LevelRule): ReadonlyMap<string, Level> {
  const levels = new Map<string, Level>()
  for (const role of standard) for (const name of FIELD_NAMES[role]) levels.set(name, 'standard')
  for (const role of minimal) for (const name of FIELD_NAMES[role]) levels.set(name, 'minimal')
  return levels
}

/** The level from which on a field of an item belongs to it. */
export function levelOfField(kind: ItemKind, key: string, value: Value): Level {
  const name = plainName(key)
  const level = LEVELS_BY_NAME.get(kind)?.get(name)
  if (level !== undefined) return level
  return NAMED_ONLY.has(kind) ? 'full' : levelOfOther(key, value)
}

/** The level of a member inside a field: its name has the field's own level, the rest is detail. */
export function levelWithin(outer: Level, key: string): Level {
  const name = plainName(key)
  return outer === 'full' || LEVELS_BY_NAME.get('item')?.get(name) !== 'minimal' ? 'full' : outer
}

/** Texts of this many characters are too long for standard fields. */
const SHORT_CHARS = 120
/**
 * Ends of the names of links and of ids that machines read; of dates, as their keys are spelled.
 */
const TECHNICAL = /(?:url|uri|href|link|links|avatar|nodeid|etag|sha|hash|token|cursor)$/
const DATE_KEY = /(?:_at|_on|[a-z]At|[a-z]On)$/

function levelOfOther(key: string, value: Value): Level {
  if (value === null || Array.isArray(value) || value instanceof ObjectValue) return 'full'
  if (typeof value === 'string' && value.length > SHORT_CHARS) return 'full'
  return TECHNICAL.test(plainName(key)) || DATE_KEY.test(key) ? 'full' : 'standard'
}

/** Whether a field of that level is kept at `cap`. */
export function isWithin(level: Level, cap: Level): boolean {
  return LEVELS.indexOf(level) <= LEVELS.indexOf(cap)
}
