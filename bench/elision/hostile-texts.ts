const TEN_MB = 1e7

/** Texts of 10 MB that patterns and loops could stumble over. */
export function hostileTexts(): Readonly<Record<string, string>> {
  const fill = (part: string): string => part.repeat(Math.floor(TEN_MB / part.length))
  const longLine = 'ERROR connection refused '.repeat(40_000)
  return {
    'lines of 1 MB': fill(`${longLine}\n`),
    'no line break': fill('ERROR x '),
    'only errors': fill('ERROR: failed\n'),
    'only frames': fill('\tat a.b.c(d.java:1)\n'),
    'only braces': fill('{\n'),
    'only spaces': fill(`${' '.repeat(999)}\n`),
    'only hunk headers': fill('@@ -1,9 +1,9 @@\n'),
    'only matches': fill('a.ts:1:x error\n'),
    'small JSON objects': fill('{"a":1,"error":null}\n'),
    'short sentences': fill('## b\nThis must be a sentence that is long. '),
    'empty lines': fill('\n'),
  }
}
