/** What a reader would not see, or would see as something else: controls and marks of format. */
const UNSEEN = /[\p{Cf}\u2028\u2029]|[^\P{Cc}\t\n]/gu

/** The text with a visible escape for each character that would not be seen. */
export function visible(text: string): string {
  return text.toWellFormed().replace(UNSEEN, escaped)
}

function escaped(char: string): string {
  const digits = char.codePointAt(0)!.toString(16)
  return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`
}
