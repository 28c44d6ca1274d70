type Span = readonly [start: number, end: number]

const HEAD = /(?:\[|\{)(\d+)[\t| ]?-?#?[\]}]:$/
const LINE_KEY = /^ *(?:- )*(?!- |=)("(?:[^"\\]|\\.)*"|[^:"[{\s][^:"[{]*)(?=[:[{])/
const JSON_KEY = /"(?:[^"\\]|\\.)*"(?=:)/g
const INLINE_KEY = /(?<=[{,] ?)(?:"(?:[^"\\]|\\.)*"|[^:,;"[\]{}\n]+)(?=:)/g

/**
 * Where keys, column names and patterns of headers stand in a text that one of our notations wrote,
 * in order; for a sum of tokens over many texts, not for reading one. None for notations that have
 * no keys.
 */
export function keySpans(label: string, content: string): readonly Span[] {
  switch (label.replace(/@.*/, '')) {
    case 'json_compact':
      return matches(JSON_KEY, content, 0)
    case 'csv':
      return [[0, lineEnd(content, 0)]]
    case 'tree':
    case 'ndjson':
    case 'blocks':
    case 'mcp':
      return treeSpans(content)
    default:
      return []
  }
}

/**
 * Line by line: headers of tables, keys in front of colons, keys in braces. Rows and fences have
 * only the latter.
 */
function treeSpans(content: string): readonly Span[] {
  const spans: Span[] = []
  let rows = 0
  let isHeader = false
  let fence: string | null = null
  for (let at = 0; at < content.length; at = lineEnd(content, at) + 1) {
    const line = content.slice(at, lineEnd(content, at))
    if (fence !== null) {
      if (line === fence) fence = null
    } else if (isHeader) {
      spans.push([at, at + line.length])
      isHeader = false
    } else if (rows > 0) {
      rows--
      if (line.startsWith('{')) spans.push(...matches(INLINE_KEY, line, at))
    } else {
      const key = LINE_KEY.exec(line)
      const start = at + (key?.[0].length ?? 0)
      if (key?.[1] !== undefined) spans.push([start - key[1].length, start])
      const opened = /^[^`]*:(`{3,})$/.exec(line)?.[1] ?? /^ *- (`{3,})$/.exec(line)?.[1]
      const count = HEAD.exec(line)?.[1]
      if (opened !== undefined) fence = opened
      else if (count !== undefined) {
        rows = Number(count)
        isHeader = true
      } else if (/^:?\s*[[{]/.test(content.slice(start, at + line.length))) {
        spans.push(...matches(INLINE_KEY, content.slice(start, at + line.length), start))
      }
    }
  }
  return spans
}

function matches(pattern: RegExp, text: string, offset: number): Span[] {
  return Array.from(text.matchAll(pattern), ({ 0: found, index }) => [
    offset + index,
    offset + index + found.length,
  ])
}

function lineEnd(text: string, start: number): number {
  const end = text.indexOf('\n', start)
  return end === -1 ? text.length : end
}
