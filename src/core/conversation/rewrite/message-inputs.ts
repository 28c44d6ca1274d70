import type { Fields } from '../../dialects/bodies/route.ts'

/** The member of a text part that names a kept input in place of its text. */
const REF = 'input_ref'

/** The kept inputs that texts of messages are, one for each use, in their order. */
export function inputRefsIn(messages: readonly unknown[]): readonly string[] {
  const refs: string[] = []
  withInputs(messages, ref => {
    refs.push(ref)
    return ''
  })
  return refs
}

/**
 * The messages with the texts of kept inputs. A text part may have an `input_ref` and no `text`,
 * also in the content of a `tool_result`. Everything else stays the very same.
 * @param textOf the text of an input
 */
export function withInputs(
  messages: readonly unknown[],
  textOf: (ref: string) => string,
): readonly unknown[] {
  const inContent = (holder: unknown): unknown => {
    if (!isFields(holder) || !Array.isArray(holder['content'])) return holder
    const before: readonly unknown[] = holder['content']
    const parts = before.map(part => (isReferring(part) ? filled(part, textOf) : inContent(part)))
    return parts.every((part, i) => part === before[i]) ? holder : { ...holder, content: parts }
  }
  return messages.map(inContent)
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isReferring(part: unknown): part is Fields {
  return (
    isFields(part) && part['type'] === 'text' && typeof part[REF] === 'string' && !('text' in part)
  )
}

/** The text stands where the reference stood. */
function filled(part: Fields, textOf: (ref: string) => string): Fields {
  const members = Object.entries(part).map(([key, value]) =>
    key === REF ? ['text', textOf(String(value))] : [key, value],
  )
  return Object.fromEntries(members) as Fields
}
