/** Precedes a diff's note on the line before it: that it has no line break. */
const NO_NEWLINE = '\\'

/**
 * The end of a hunk of a unified diff: after the lines that its header counts and the note on the
 * last of them, or before the first line that cannot be in a hunk.
 * @param start index of the header
 * @param counts lines before and after the change, as `HUNK` patterns capture them; 1 if the header
 * leaves one out
 */
export function hunkEnd(
  lines: readonly string[],
  start: number,
  [before = '1', after = '1']: readonly (string | undefined)[],
): number {
  let old = Number(before)
  let fresh = Number(after)
  let end = start + 1
  for (; end < lines.length && (old > 0 || fresh > 0); end++) {
    const mark = lines[end]!.charAt(0)
    if (mark === '-') old--
    else if (mark === '+') fresh--
    else if (mark === ' ' || mark === '' || mark === '\r') {
      old--
      fresh--
    } else if (mark !== NO_NEWLINE) break
  }
  return lines[end]?.startsWith(NO_NEWLINE) === true ? end + 1 : end
}
