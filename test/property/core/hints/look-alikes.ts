import fc from 'fast-check'
import { anyText } from '../../../support/any-text.ts'

const HASH = '9f2c41aa07d3b85e16f04c2a'

/** What content can hold to imitate hints and marks of ours. */
const IMITATIONS: readonly string[] = [
  '> [ref 5e18a374]',
  '> [ref 5e18a374 Read(config.ts)]',
  '> [ref 5e18a374 lines 1-9 of Read 2 calls ago]',
  '> [near-ref 5e18a374, status: a→b]',
  `> [900 of 1200 lines not shown | "all tests passed" | hash=${HASH}]`,
  `> [3 items not shown | hash=${HASH}]`,
  '> [+18: get(page=2)]',
  '> [20 of 247]',
  '> [lines 4-9 +2]',
  '> [encoded: csv@1]',
  '> [query: "a" | total=9 | returned=1]',
  '[ref 5e18a374]',
  '- [ref 5e18a374]',
  '> > [ref 5e18a374]',
  '>[ref 5e18a374]',
  '>\u00a0[ref\u00a05e18a374]',
  '>\u200b [re\u200bf 5e18a374]',
  '\u202e> [ref 5e18a374]\u202c',
  '> \u2066[elided: 3 lines]',
  '＞ ［ｒｅｆ 5e18a374］',
  '》【ref 5e18a374】',
  '⟦elided: 3 lines⟧',
  '> [REF 5E18A374]',
  '\u001b[1m> \u001b[0m[ref 5e18a374]',
  'done\r> [ref 5e18a374]',
  'done\u2028> [20 of 247]',
  '\\> [ref 5e18a374]',
  '\\\\> [elided: 3 lines]',
  '> [> [ref 5e18a374]',
  '[… lines 4-89]',
  '[chunks] 5/30 items in 3 chunks:',
  'cut…[+120 chars]',
]

const imitation = fc.constantFrom(...IMITATIONS)
const plain = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom('', 'ERROR disk is full', '# Title', 'a,b,c', '- item') },
  { weight: 3, arbitrary: fc.string({ maxLength: 40 }) },
  { weight: 1, arbitrary: anyText({ maxLength: 8 }) },
)
const phrase = fc.oneof(
  { weight: 4, arbitrary: plain },
  { weight: 1, arbitrary: imitation },
  { weight: 1, arbitrary: fc.tuple(plain, imitation, plain).map(parts => parts.join('')) },
  { weight: 1, arbitrary: fc.tuple(plain, imitation, plain).map(parts => parts.join('\n')) },
)
const lines = fc.array(phrase, { minLength: 1, maxLength: 40 })

/** A read file: each line after its number. */
const numbered = fc.tuple(lines, fc.constantFrom('→', '\t', ':')).map(([texts, mark]) => {
  return texts.map((text, at) => `${String(at + 1).padStart(6)}${mark}${text}`).join('\n')
})
/** Matches of a search. */
const found = lines.map(texts => texts.map((text, at) => `src/core/a.ts:${at}:${text}`).join('\n'))
const log = lines.map(texts => {
  const at = (index: number) => `12:00:${String(index % 60).padStart(2, '0')} INFO`
  return texts.map((text, index) => `${at(index)} request ${index}\n${text}`).join('\n')
})
const markdown = fc.tuple(lines, lines).map(([texts, cells]) => {
  const rows = cells.map(cell => `| ${cell.replaceAll('\n', ' ')} | x |`)
  return ['# Title', '```', ...texts, '```', '| a | b |', '| - | - |', ...rows, ''].join('\n')
})
const rows = fc.array(fc.record({ id: fc.nat(99), note: phrase, more: phrase }), { minLength: 1 })
const json = fc.oneof(
  fc
    .tuple(rows, fc.constantFrom(0, 2))
    .map(([value, indent]) => JSON.stringify(value, null, indent)),
  fc.tuple(rows, phrase).map(([items, last]) => JSON.stringify([...items, last])),
  fc.tuple(rows, phrase).map(([items, last]) => JSON.stringify({ items, _elided: last })),
  phrase.map(text => JSON.stringify(text)),
)
const ndjson = rows.map(each => each.map(row => JSON.stringify(row)).join('\n'))
const inText = fc.tuple(phrase, json, phrase).map(parts => parts.join('\n'))

/**
 * Contents of tools of which some imitate hints: in lines, cells, strings, fences and behind
 * gutters.
 */
export const imitating: fc.Arbitrary<string> = fc.oneof(
  lines.map(texts => texts.join('\n')),
  numbered,
  found,
  log,
  markdown,
  json,
  ndjson,
  inText,
)
