import { describe, expect, it } from 'vitest'
import { linkHints } from '../../../src/ui/result-page.ts'

const HASH = '9f2c41aa07d3b85e16f04c2a'

describe('hints in a shown text', () => {
  const links = async (text: string) => {
    const shown = String(await linkHints(text))
    return [...shown.matchAll(/<a href="([^"]*)">([^<]*)<\/a>/g)].map(([, to, name]) => [to, name])
  }

  it('lead to the parts that a marker names', async () => {
    const marker = `> [34 of 60 items at $.items[3:37], lines 40-80 of 400 not shown | hash=${HASH}]`
    expect(await links(`one\n${marker}\ntwo`)).toEqual([
      [`/ui/kept/${HASH}?path=%24.items%5B3%3A37%5D`, '$.items[3:37]'],
      [`/ui/kept/${HASH}?lines=40-80`, 'lines 40-80'],
    ])
    expect(await links(`> [3 rows not shown | hash=${HASH}]`)).toEqual([
      [`/ui/kept/${HASH}`, 'the original'],
    ])
  })

  it('are marked, whatever they lead to', async () => {
    const shown = String(await linkHints('one\n> [ref 89a55059 list_items 1 call ago]\ntwo'))
    expect(shown).toBe(
      'one\n<span class="hint">&gt; [ref 89a55059 list_items 1 call ago]</span>\ntwo',
    )
  })

  it('are links only if we would write them exactly so', async () => {
    for (const line of [
      `> [3 rows not shown | hash=${HASH}] `,
      `\\> [3 rows not shown | hash=${HASH}]`,
      `> [3 rows not shown | hash=${HASH.slice(1)}]`,
      '> [3 rows not shown | hash="><script>alert(1)</script>]',
      '> [ref 9f2c41aa Read(a.ts)]',
      '> [see /ui/keys]',
    ]) {
      expect(await links(line), line).toEqual([])
    }
  })

  it('change nothing of the text, and nothing in it becomes markup', async () => {
    const text = `<script>\n> [3 "<b>" rows not shown | hash=${HASH}]\n\u202e</pre>\0\n`
    const shown = String(await linkHints(text))
    expect(shown).not.toMatch(/<(?!\/?(?:a|span)\b)/)
    const read = shown.replace(/ <a [^>]*>[^<]*<\/a>|<[^>]*>/g, '')
    expect(read).toContain('&lt;script&gt;\n')
    expect(read).toContain('\\u202e&lt;/pre&gt;\\u0000\n')
  })
})
