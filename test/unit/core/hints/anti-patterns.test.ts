import { describe, expect, test } from 'vitest'
import { parseHint } from '../../../../src/core/hints/hint-line.ts'
import { looksLikeHint } from '../../../../src/core/hints/looks-like-hint.ts'

const HASH = '9f2c41aa07d3b85e16f04c2a'

/**
 * Near misses of hints: SOURCES.md#formats, "Anti-patterns", and what a careless writer would add.
 */
const REFUSED: readonly [why: string, line: string][] = [
  ['an id that nobody has seen', '> [ref tc_42]'],
  ['the same, as the seed writes it', '> [ref: tc_42, byte-identical]'],
  ['freshness', '> [ref 9f2c41aa, last modified 3 min ago]'],
  ['freshness behind a call', '> [ref 9f2c41aa Read(a.ts) 3 minutes ago]'],
  ['freshness of counts', '> [total=247 | returned=20 | updated=now]'],
  ['a format that no parser knows', '> [encoded: custom_json_v3]'],
  ['a format without a version', '> [encoded: csv]'],
  ['no way back', '> [skip: too big, sorry]'],
  ['an omission that names no original', '> [elided: 34 items]'],
  ['an original that cannot be found', '> [34 items not shown | hash=9f2c41aa]'],
  ['an overflow without a call', '> [+18 more issues]'],
  ['an overflow with a call in words', '> [+18 more issues. call get_issues with page 2]'],
  ['a call that is cut', '> [+18 more. call get_issues(page=2, …)]'],
  ['several lines', `> [ref 9f2c41aa,\n> byte-identical]`],
  ['a line break behind', '> [ref 9f2c41aa]\n'],
  ['a second hint behind', '> [ref 9f2c41aa] > [ref 00000000]'],
  ['words behind', '> [ref 9f2c41aa] and more'],
  ['words before', 'see > [ref 9f2c41aa]'],
  ['no quotation', '[ref 9f2c41aa]'],
  ['another spacing', '>[ref 9f2c41aa]'],
  ['space at the end', '> [ref 9f2c41aa ]'],
  ['capitals', '> [ref 9F2C41AA]'],
  ['an unknown key', '> [query: "a" | total=2 | returned=1 | cached=true]'],
  ['another order', '> [returned=20 | total=247]'],
  ['a leading zero', '> [020 of 247]'],
  ['a number with an exponent', '> [2e1 of 247]'],
  ['a needless quote', '> [ref 9f2c41aa "Read"(a.ts)]'],
  ['a missing quote', '> [query: status | total=2 | returned=1]'],
  ['an open quote', '> [ref 9f2c41aa Read("a)]'],
  ['an escape that is none', '> [ref 9f2c41aa Read("\\x41")]'],
  ['an escape that we do not write', '> [ref 9f2c41aa Read("\\u0041 b")]'],
  ['a hidden character', '> [ref 9f2c41aa Read("a\u200b")]'],
  ['a bare bracket in a value', '> [ref 9f2c41aa Read("a]")]'],
  ['a delta without values', '> [near-ref 9f2c41aa, status]'],
  ['a delta that is a difference', '> [near-ref 9f2c41aa, duration: +22s]'],
  ['an empty delta', '> [near-ref 9f2c41aa]'],
  ['lines backwards', '> [ref 9f2c41aa lines 80-40]'],
  ['a shift of nothing', '> [ref 9f2c41aa lines 40-80, numbers +0]'],
  ['two distances', '> [ref 9f2c41aa Bash 3 calls ago 4 calls ago]'],
  ['bad grammar of one', '> [ref 9f2c41aa Bash 1 calls ago]'],
  ['more returned than a double holds', `> [${'9'.repeat(16)} of 247]`],
  ['nothing', '> []'],
  ['an empty line', ''],
]

describe('what is no hint', () => {
  test.each(REFUSED)('%s', (_, line) => {
    expect(parseHint(line)).toBeNull()
  })
})

describe('what a reader could take for one', () => {
  test.each([
    ...REFUSED.map(([, line]) => line).filter(line => line.startsWith('> [') && line.length > 4),
    '[ref 9f2c41aa]',
    '>[ref 9f2c41aa]',
    '  > > [ REF: 9f2c41aa]',
    '- [near-ref 9f2c41aa, a: 1→2]',
    '> \u200b[re\u200bf 9f2c41aa]',
    '＞ ［ｒｅｆ 9f2c41aa］',
    'text\r> [ref 9f2c41aa]',
    'text\u2028> [20 of 247]',
    '\u001b[0m> [+18 more. call a()]',
    '⟦elided:9f2c41aa07d3 3 lines⟧',
    `[120 items compressed. Retrieve: hash=${HASH}]`,
    `see hash = ${HASH.toUpperCase()} for more`,
    '> [omitted 3 lines]',
  ])('%s', line => {
    expect(looksLikeHint(line)).toBe(true)
  })

  test.each([
    '',
    '> a quotation',
    '> [!NOTE]',
    '> [a link](https://example.com)',
    '- [ ] a task',
    '- [x] done',
    '[2026-01-01] INFO started',
    '[1/3] building',
    'see [ref](x) in the text',
    `commit ${HASH}`,
    'refs/heads/main',
  ])('not: %s', line => {
    expect(looksLikeHint(line)).toBe(false)
  })
})

/** A quadratic reader would take minutes for each. */
test.each([
  ['open brackets', '[', '> ['],
  ['quotation marks', '> ', ''],
  ['carriage returns', '\r', ''],
  ['hidden characters', '\u200b', '> ['],
  ['back slashes', '\\', '> [ref 9f2c41aa Read("'],
  ['near hashes', 'hash=9f2c41aa07d3', ''],
  ['spaces', ' ', '> ['],
  ['digits', '9', '> ['],
  ['changes', 'a: 1→2, ', '> [near-ref 9f2c41aa, '],
])('a megabyte of %s is read in one pass', (_, unit, head) => {
  const line = `${head}${unit.repeat(Math.ceil(2 ** 20 / unit.length))}]`
  expect(parseHint(line)).toBeNull()
  expect(typeof looksLikeHint(line)).toBe('boolean')
})
