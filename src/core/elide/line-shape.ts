/** Characters of a line's beginning that make its shape. */
const SHAPE_CHARS = 48

const DIGIT_0 = 48
const DIGIT_9 = 57

/**
 * What a line begins like: its first characters with each run of digits as one, so that lines which one statement of a program
 * printed have the same. Bounded work for a line, however long.
 */
export function lineShape(line: string): string {
  let shape = ''
  let wasDigit = false
  const end = Math.min(line.length, SHAPE_CHARS)
  for (let at = 0; at < end; at++) {
    const c = line.charCodeAt(at)
    const isDigit = c >= DIGIT_0 && c <= DIGIT_9
    if (!isDigit) shape += line[at]
    else if (!wasDigit) shape += '0'
    wasDigit = isDigit
  }
  return shape
}
