import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { encode } from '../../../src/index.ts'

const README = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')

const EXAMPLE =
  /\$ cat issues\.json +(\d+) tokens.*\n([^$]+)\n\$ haversack encode issues\.json +(\d+) tokens, format (\S+)\n([^`]+)\n```/

it('README.md begins with what encode answers', () => {
  const [, before, content, after, format, text] = EXAMPLE.exec(README) ?? []
  expect(encode({ content: content as string })).toMatchObject({
    content: text,
    format,
    tokens: { baseline: Number(before), final: Number(after) },
  })
})
