import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { formatId } from '../../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../../../src/core/formats/text/registry.ts'
import { splitFormat } from '../../../../src/core/formats/text/text-format.ts'
import { decode, encode } from '../../../../src/index.ts'
import { readPlainly } from '../../../support/plain-readers/readers.ts'

const text = readFileSync(new URL('../../../../docs/reference/formats.md', import.meta.url), 'utf8')

/** The part of the text from a heading to the next one of its level or above. */
function section(id: string): string {
  const start = text.search(new RegExp(`^#+ \`${id}\`$`, 'm'))
  const rest = text.slice(start)
  const end = rest.search(/\n#{2,3} /)
  return start === -1 ? '' : rest.slice(0, end)
}

const EXAMPLE = /^Example \(`([^`]+)`\):\n\n(`{3,})\n([\s\S]*?)\n\2$/gm
const examples = [...text.matchAll(EXAMPLE)].map(([, format = '', , content = '']) => ({
  format,
  content,
}))

describe.each([...JSON_FORMATS, ...TEXT_FORMATS].map(formatId))(
  '%s in docs/reference/formats.md',
  id => {
    it('has a grammar, an example and a reason why a model can read it', () => {
      const part = section(id)
      expect(part).toMatch(/^```ebnf\ndocument +::= /m)
      expect(part).toContain('**Read by a model because**')
      expect(
        [...part.matchAll(EXAMPLE)].map(([, format = '']) => splitFormat(format).base),
      ).toEqual([id])
    })

    it('has a grammar whose every symbol is said somewhere', () => {
      const part = section(id)
      const grammar = (/^```ebnf\n([\s\S]*?)\n```$/m.exec(part)?.[1] ?? '')
        .replace(/\/\*.*?\*\//g, '')
        .replace(/"[^"]*"|'[^']*'/g, ' ')
      const intro = text.slice(0, text.indexOf('\n## `'))
      const defined = new Set([...grammar.matchAll(/^([a-z-]+) +::=/gm)].map(([, name]) => name))
      for (const [symbol] of grammar.matchAll(/[a-z][a-z-]*/g)) {
        const name = symbol.replace(/-doubled$/, '')
        if (defined.has(symbol)) continue
        expect(
          [intro, part].some(prose => prose.includes(`\`${name}\``)),
          symbol,
        ).toBe(true)
      }
    })
  },
)

describe.each(examples)('the example of $format', ({ format, content }) => {
  it('is what the format writes for it', () => {
    const decoded = decode({ content, format })
    const [id = ''] = format.split('@')
    const inner = [...format.matchAll(/,(\w+)@/g)].map(([, name = '']) => name)
    const again = encode({ content: decoded.content, formats: [id, ...inner] })
    if (again.format === format)
      expect(decode({ content: again.content, format }).content).toBe(decoded.content)
    // Nothing else may be sent for it; a short example may be no shorter than its text.
    else expect(again.format).toBe('passthrough')
  })

  it('says to a plain reader what it decodes to', () => {
    const decoded = decode({ content, format })
    if (decoded.media_type !== 'application/json' || format.startsWith('mcp')) return
    expect(readPlainly(format, content)).toEqual(JSON.parse(decoded.content))
  })
})
