import { NumberLiteral, ObjectValue, type Value } from '../../core/json/value.ts'

/** Shorter values are in later calls by chance. */
const LEAST_CHARS = 5
/** A longer text is no name; it would be quoted in parts. */
const MOST_CHARS = 300

/** The scalars of a value that a later call may quote, by their texts. */
export function quotableValues(value: Value): Set<string> {
  const found = new Set<string>()
  const open: Value[] = [value]
  for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
    if (inner instanceof ObjectValue) for (const member of inner.values) open.push(member)
    else if (Array.isArray(inner)) for (const item of inner) open.push(item)
    else if (typeof inner === 'string' || typeof inner === 'number') add(found, String(inner))
    else if (inner instanceof NumberLiteral) add(found, inner.text)
  }
  return found
}

function add(found: Set<string>, text: string): void {
  if (text.length >= LEAST_CHARS && text.length <= MOST_CHARS) found.add(text)
}

/** Everything that a call's arguments may quote: each text, and its words. */
export function quotesOf(args: unknown): ReadonlySet<string> {
  const found = new Set<string>()
  const open: unknown[] = [args]
  for (let i = 0; i < open.length; i++) {
    const inner = open[i]
    if (typeof inner === 'object' && inner !== null) {
      for (const item of Object.values(inner)) open.push(item)
    } else if (typeof inner === 'number') add(found, String(inner))
    else if (typeof inner === 'string') {
      add(found, inner)
      for (const word of inner.split(/[\s"'`,;()=[\]{}<>]+/)) add(found, word)
    }
  }
  return found
}
