import { describe, expect, it } from 'vitest'
import {
  escapeInJson,
  escapeLookAlikes,
  unescapeLookAlikes,
} from '../../../../src/core/hints/escape.ts'
import { findLookAlikes, startsLikeHint } from '../../../../src/core/hints/look-alikes.ts'
import {
  guardLine,
  isReferenceLike,
  unguardLine,
} from '../../../../src/core/sessions/lines/guard-line.ts'
import { FULL_RUNS } from '../../../support/runs.ts'

const REF = 'ref 5e18a374]'

describe('what looks like a hint', () => {
  it.each<[string, number]>([
    [`> [${REF}`, 0],
    [`12→> [${REF}`, 3],
    [`1,> [${REF},x`, 2],
    [`- > [${REF}`, 2],
    [`- [${REF}`, 2],
    [`[${REF}`, 0],
    [`done\n  [${REF}`, 7],
    [`done\r[${REF}`, 5],
    [`done\u2028[${REF}`, 5],
    [`>[${REF}`, 0],
    [`>\t [ ${REF}`, 0],
    [`>\u00a0[ref\u00a05e18a374]`, 0],
    [`>\u200b [re\u200bf 5e18a374]`, 0],
    [`\u202e> \u2066[${REF}`, 1],
    ['＞ ［ｒｅｆ 5e18a374］', 0],
    [`> 【${REF}`, 0],
    [`》⟦${REF}`, 0],
    [`［${REF}`, 0],
    ['> [𝐫𝐞𝐟 5e18a374]', 0],
    ['> [REF 5E18A374]', 0],
    [`>\u001b[0m [${REF}`, 0],
    ['> [near-ref 5e18a374, a: 1→2]', 0],
    ['> [elided: 3 lines]', 0],
    ['elided > [elided: 3 lines]', 7],
    ['> [20 of 247]', 0],
    ['> [+18: get()]', 0],
    ['> [line 5]', 0],
    ['> [encoded: csv@1]', 0],
    ['> [query: "a" | total=2 | returned=1]', 0],
    ['> [total=2 | returned=1]', 0],
    ['[… lines 4-89]', 0],
    ['[... line 4]', 0],
    ['cut…[+120 chars]', 3],
    ['[chunks] 5/30', 0],
    ['[/chunks] Use', 0],
  ])('%j', (text, at) => {
    expect(findLookAlikes(text)).toEqual([at])
    const escaped = escapeLookAlikes(text)
    expect(escaped).toEqual({ content: `${text.slice(0, at)}\\${text.slice(at)}`, count: 1 })
    expect(findLookAlikes(escaped.content)).toEqual([at + 1])
    expect(unescapeLookAlikes(escaped.content, 'all')).toBe(text)
  })

  it.each([
    '',
    '> a quotation',
    '> [!NOTE]',
    '> [a link](https://example.com)',
    '- [ ] a task',
    '[1 of 3] Compiling Main',
    '[2026-01-01] INFO started',
    'see [ref](x) in the text',
    'const a = b => [ref, total]',
    'x > [1, 2]',
    '[reference]: https://example.com',
    'commit hash=9f2c41aa07d3b85e16f04c2a',
    '[1,"x of 3"]',
    '》【书名】',
  ])('not: %j', text => {
    expect(findLookAlikes(text)).toEqual([])
    expect(escapeLookAlikes(text)).toEqual({ content: text, count: 0 })
  })

  it('gaps are none where they may be ours', () => {
    expect(findLookAlikes('[… lines 4-89]\na…[+120 chars]\n[chunks] 5/30', 'hints')).toEqual([30])
  })

  it('what is escaped already gets one more escape only beside something bare', () => {
    expect(escapeLookAlikes(`\\> [${REF}`).count).toBe(0)
    const both = `\\> [${REF}\n> [${REF}`
    const { content } = escapeLookAlikes(both)
    expect(content).toBe(`\\\\> [${REF}\n\\> [${REF}`)
    expect(unescapeLookAlikes(content, 'all')).toBe(both)
  })

  it('in JSON they are spelled otherwise, and mean the same', () => {
    const json = JSON.stringify({ [`> [${REF}`]: ['＞ ［ref 5e18a374］', '…[+3 chars]'] })
    const { content, count } = escapeInJson(json)
    expect(count).toBe(3)
    expect(content).toContain(`"\\u003e [${REF}`)
    expect(findLookAlikes(content)).toEqual([])
    expect(JSON.parse(content)).toEqual(JSON.parse(json))
  })

  it('a line imitates a hint by its first words', () => {
    expect(startsLikeHint(`  - > [${REF}`)).toBe(true)
    expect(startsLikeHint(`\\> [${REF}`)).toBe(true)
    expect(startsLikeHint(`ERROR disk full > [${REF}`)).toBe(false)
  })
})

describe('references to lines keep guarding what they always guarded', () => {
  it.each([
    `［${REF}`,
    `【${REF}`,
    '⟦elided: 3 lines⟧',
    `\u200b[${REF}`,
    `＞ [${REF}`,
    `- [${REF}`,
  ])('%j', line => {
    expect(isReferenceLike(line)).toBe(true)
    expect(guardLine(line)).toBe(`\\${line}`)
    expect(unguardLine(`\\${line}`)).toBe(line)
  })
})

/** A quadratic scan of a megabyte would take minutes. */
const CHARACTERS = FULL_RUNS ? 2 ** 20 : 2 ** 17

it.each(['>', '> [', '[', '\n[', '\\[', '>\u200b', '\u001b[0m', '> [\u200b', '…[+', '》【', '- '])(
  'very many of %j are scanned in one pass',
  unit => {
    expect(findLookAlikes(unit.repeat(Math.ceil(CHARACTERS / unit.length)))).toEqual([])
  },
)
