import { expect, it } from 'vitest'
import { definitionHash } from '../../../src/mcp/memory/definition-hash.ts'
import { withToolTexts } from '../../../src/mcp/tool-texts.ts'

const RAW =
  '{"x":1.0,"name":"t","description":"Long.","inputSchema":{"properties":{"a":{"n":1e2},"b":{}}}}'
const tool = { key: 't', raw: Buffer.from(RAW) }
const hash = definitionHash(tool)

function shortened(text: object) {
  const texts = new Map([['t', { hash, parameters: {}, ...text }]])
  const { tools, outdated } = withToolTexts([tool, { ...tool, key: 'u' }], texts)
  expect(tools[1]!.raw.toString()).toBe(RAW)
  return { raw: tools[0]!.raw.toString(), outdated }
}

it('changes the texts of a definition and no other byte', () => {
  const { raw, outdated } = shortened({ description: 'L', parameters: { a: 'A "text"' } })
  const changed = RAW.replace('"Long."', '"L"').replace(
    '{"n":1e2}',
    '{"n":1e2,"description":"A \\"text\\""}',
  )
  expect(raw).toBe(changed)
  expect(outdated).toEqual([])
})

it('leaves a parameter alone that is not there', () => {
  expect(shortened({ parameters: { c: 'C' } }).raw).toBe(RAW)
})

it('leaves a definition alone that is another one now', () => {
  expect(shortened({ hash: '0123456789abcdef', description: 'L' })).toEqual({
    raw: RAW,
    outdated: ['t'],
  })
})
