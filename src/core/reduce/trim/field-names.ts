import { ObjectValue, type Value } from '../../json/value.ts'

/**
 * The roles of an item's fields, by the names that issue trackers, code hosts and others have for
 * them.
 */
export const FIELD_NAMES = {
  id: ['id', 'key', 'iid', 'number', 'identifier', 'slug', 'uuid'],
  title: ['title', 'summary', 'subject', 'name', 'displayname', 'login', 'username', 'label'],
  state: ['state', 'status', 'conclusion', 'result', 'outcome'],
  level: ['level', 'severity', 'loglevel', 'type', 'kind', 'priority'],
  path: ['newpath', 'path', 'filename', 'filepath', 'file', 'oldpath'],
  patch: ['diff', 'patch', 'hunks'],
  additions: ['additions', 'linesadded', 'added'],
  deletions: ['deletions', 'linesremoved', 'removed'],
  body: ['body', 'description', 'text', 'content', 'note', 'message', 'comment'],
  author: ['author', 'user', 'reporter', 'creator', 'owner', 'createdby', 'assignee', 'assignees'],
  labels: ['labels', 'tags', 'components', 'topics'],
  source: ['source', 'sourcebranch', 'head', 'headref', 'headrefname'],
  target: ['targetbranch', 'base', 'baseref', 'baserefname'],
  draft: ['draft', 'isdraft', 'workinprogress'],
  link: ['url', 'htmlurl', 'weburl', 'link', 'permalink'],
  resolved: ['resolved', 'isresolved'],
  updated: ['updatedat', 'updated', 'lastupdated', 'modifiedat', 'modified', 'lastactivityat'],
  created: ['createdat', 'created', 'createdon', 'publishedat', 'date', 'timestamp', 'time', 'ts'],
  replies: ['comments', 'notes', 'replies', 'messages'],
  activity: [
    ...['comments', 'comment', 'commentcount', 'commentscount', 'usernotescount', 'notescount'],
    ...['reactions', 'replies', 'notes', 'upvotes', 'votes', 'participants', 'watchers'],
  ],
} as const satisfies Record<string, readonly string[]>

export type FieldRole = keyof typeof FIELD_NAMES

/**
 * Members that hold an item's own fields, in several dialects of JSON (Jira, JSON:API, GraphQL).
 */
const ENVELOPES: ReadonlySet<string> = new Set(['fields', 'attributes', 'node'])

/** `lastUpdated`, `last_updated` and `Last-Updated` are one name. */
export function plainName(name: string): string {
  return name.replaceAll(/[_-]/g, '').toLowerCase()
}

export function isEnvelope(name: string, value: Value): value is ObjectValue {
  return value instanceof ObjectValue && ENVELOPES.has(plainName(name))
}

/** An item's fields by plain name, those in an envelope too; of two of a name the first. */
export function fieldsOf(item: ObjectValue): ReadonlyMap<string, Value> {
  const fields = new Map<string, Value>()
  const read = ({ keys, values }: ObjectValue, isOuter: boolean): void => {
    keys.forEach((key, index) => {
      const value = values[index]!
      if (isOuter && isEnvelope(key, value)) read(value, false)
      const name = plainName(key)
      if (!fields.has(name)) fields.set(name, value)
    })
  }
  read(item, true)
  return fields
}

/** The first field that plays the role, in the order of its names. */
export function fieldFor(fields: ReadonlyMap<string, Value>, role: FieldRole): Value | undefined {
  for (const name of FIELD_NAMES[role]) {
    const value = fields.get(name)
    if (value !== undefined && value !== null) return value
  }
  return undefined
}
