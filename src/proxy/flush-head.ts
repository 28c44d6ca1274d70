import type { OutgoingMessage } from 'node:http'

/**
 * Sends the head of a message that has a body, if none of it has left yet. Not `flushHeaders`,
 * which writes the bytes above 0x7f of header values as UTF-8, and so doubles them; an empty write
 * has an encoding.
 */
export function flushHead(message: OutgoingMessage): void {
  message.write('', 'latin1')
}

/** Whether the head may be sent by Node at once, as it does with `Expect`: in UTF-8. */
export function isAscii(values: readonly string[]): boolean {
  return values.every(value => !/[\x80-\xff]/.test(value))
}
