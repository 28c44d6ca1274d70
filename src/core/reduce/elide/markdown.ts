const FENCE = /^(?:```|~~~)/
/** Of the second level and below: one `#` begins a comment in many languages. */
const HEADING = /^#{2,6} +\S/
const LEAST = 2

/** Whether a text is Markdown, whatever the code and the output are that it quotes. */
export function isMarkdown(lines: readonly string[]): boolean {
  let fences = 0
  let headings = 0
  for (const line of lines.map(each => each.trimStart())) {
    if (FENCE.test(line)) fences++
    else if (HEADING.test(line)) headings++
  }
  return headings >= LEAST || (fences >= LEAST && headings > 0)
}
