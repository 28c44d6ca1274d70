/** A piece of a text: what others may have too, with a sign for each value, and these values. */
export interface Part {
  /** With `SLOT` in place of each value. */
  readonly frame: string
  readonly values: readonly string[]
}

/** The place of a value in a frame. No text that is taken apart has it. */
export const SLOT = '\u0001'

const QUOTED = /="([^"\n]*)"/g

/** The tags of HTML or XML. Attributes and the text after a tag are values. */
export function markupParts(text: string): readonly Part[] {
  return splitTags(text).map(source => {
    const values: string[] = []
    const tag = source.replace(QUOTED, (_, value: string) => {
      values.push(value)
      return `="${SLOT}"`
    })
    const start = tag.indexOf('>') + 1
    const below = tag.slice(start)
    const value = below.trim()
    const isValue = start > 0 && value !== '' && !/[\n<>]/.test(value)
    if (isValue) values.push(value)
    const frame = isValue ? tag.slice(0, start) + below.replace(value, () => SLOT) : tag
    return { frame, values }
  })
}

/** Pieces that begin with a tag, or with its indentation if it is the first one of a line. */
function splitTags(text: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  for (let at = text.indexOf('<', 1); at !== -1; at = text.indexOf('<', at + 1)) {
    let from = at
    while (text.charCodeAt(from - 1) === 0x20 || text.charCodeAt(from - 1) === 0x09) from--
    if (from > 0 && text[from - 1] !== '\n') from = at
    if (from <= start) continue
    parts.push(text.slice(start, from))
    start = from
  }
  parts.push(text.slice(start))
  return parts
}

/** What ends a name. */
const NAME_END = /[\w.\])-]/
const ASSIGNED = /( ?= ?)(?:"((?:[^"\\\n]|\\.)*)"|([^\s"'[\]{},]+))/y
const NO_VALUES: readonly string[] = []
const HEADING = /^\[([^[\]\n]+)\]\n?$/

/** Lines. What follows an equals sign is a value, and what is in brackets that fill the line. */
export function lineParts(text: string): readonly Part[] {
  const parts: Part[] = []
  let at = 0
  do {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed + 1
    parts.push(linePart(text.slice(at, end)))
    at = end
  } while (at < text.length)
  return parts
}

function linePart(line: string): Part {
  const isHeading = line.startsWith('[')
  // Most lines of source code have neither.
  if (!isHeading && !line.includes('=')) return { frame: line, values: NO_VALUES }
  const values: string[] = []
  let frame = line
  if (isHeading) {
    frame = frame.replace(HEADING, (whole, value: string) => {
      values.push(value)
      return whole.replace(value, () => SLOT)
    })
  }
  return { frame: takeAssigned(frame, values), values }
}

/** The text without what is assigned to names, which is added to the values. */
function takeAssigned(text: string, values: string[]): string {
  let frame = ''
  let from = 0
  for (let sign = text.indexOf('='); sign !== -1; sign = text.indexOf('=', sign + 1)) {
    const start = sign > from && text[sign - 1] === ' ' ? sign - 1 : sign
    if (start === 0 || !NAME_END.test(text[start - 1]!)) continue
    ASSIGNED.lastIndex = start
    const found = ASSIGNED.exec(text)
    if (found === null) continue
    const [, equals, quoted, bare] = found
    values.push(quoted ?? bare!)
    frame +=
      text.slice(from, start) + (quoted === undefined ? equals! + SLOT : `${equals}"${SLOT}"`)
    from = ASSIGNED.lastIndex
    sign = from - 1
  }
  return from === 0 ? text : frame + text.slice(from)
}
