import type { JsonBytes } from '../../core/json/bytes/json-node.ts'
import { CARRIAGE_RETURN, LINE_FEED, SPACE } from '../../core/json/char-codes.ts'

/**
 * A message for a transport on which a line is a message: spaces in place of line breaks, which can
 * only be between the tokens of JSON.
 */
export function singleLine(message: JsonBytes): JsonBytes {
  if (!message.includes(LINE_FEED) && !message.includes(CARRIAGE_RETURN)) return message
  const line = Buffer.from(message)
  for (let at = 0; at < line.length; at++) {
    if (line[at] === LINE_FEED || line[at] === CARRIAGE_RETURN) line[at] = SPACE
  }
  return line
}
