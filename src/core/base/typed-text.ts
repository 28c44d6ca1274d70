/**
 * The same string, known to the compiler as one. V8 has a dozen internal types of strings. Code
 * that has met more than four of them looks up `length` and `charCodeAt` at each use, and a loop
 * over a text then takes five times as long. The result of a concatenation is known to be a string.
 */
export function typedText(text: string): string {
  // biome-ignore lint/style/useTemplate: a template calls a function for each string
  return '' + text
}
