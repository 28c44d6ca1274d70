import type { Json } from './json.ts'
import { readNumbered } from './plain-texts.ts'

const RESULT = /^Result \d of Read:\n/m
const LINE = /^ *(\d+)→(.*)$/
/** Lines of the first result, and what is added to their numbers. */
const LINES = /^> \[(?:ref \w+ )?lines? (\d+)(?:-(\d+))?(?: of Read 1 call ago)?(?: ([+-]\d+))?\]$/

/** `lines@1`: the second of two readings, which refers to lines of the first. */
export function readAgain(text: string): Json {
  const [, first = '', second = ''] = text.split(RESULT)
  const earlier = readNumbered(first.trimEnd(), 'arrow') as { line: number; text: string }[]
  return second.split('\n').flatMap(line => {
    const [, from, to = from, shift = '0'] = LINES.exec(line) ?? []
    if (from !== undefined) {
      return earlier
        .filter(each => each.line >= Number(from) && each.line <= Number(to))
        .map(each => ({ line: each.line + Number(shift), text: each.text }))
    }
    const [, number, own = ''] = LINE.exec(line) ?? []
    return [{ line: Number(number), text: own }]
  })
}

const LEFT_OUT = /^\[… lines? (\d+)(?:-(\d+))?\]$/
const MARKER = /^> \[(\d+) lines kept, (\d+) not shown \| hash=(\w+)\]$/

/** `trimmed@1`: the lines that are shown with their numbers, and what the marker says. */
export function readTrimmed(
  text: string,
  style: string,
  read: (format: string, text: string) => Json,
): Json {
  const shown: { line: number; text: string }[] = []
  let next = 1
  let [lines, hash] = [0, '']
  // The marker is written as it is.
  const end = text.lastIndexOf('\n')
  const isPlain = style === '' || style === 'passthrough'
  const rest = text.slice(0, end)
  const left = isPlain ? rest.split('\n') : (read(style, rest) as readonly string[])
  for (const line of [...left, text.slice(end + 1)]) {
    const [, from, to = from] = LEFT_OUT.exec(line) ?? []
    const marker = MARKER.exec(line)
    if (from !== undefined) next = Number(to) + 1
    else if (marker !== null)
      [lines, hash] = [Number(marker[1]) + Number(marker[2]), String(marker[3])]
    else shown.push({ line: next++, text: line })
  }
  return { lines, hash, shown }
}
