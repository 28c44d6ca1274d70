import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toolOutputOf } from '../../../../src/cli/hook/command.ts'

const bash = { stdout: 'one', stderr: 'two', interrupted: false, isImage: false }
const text = (content: string) => ({ type: 'text', text: content })

describe('the texts of a tool output', () => {
  it.each([
    ['Any', 'one', ['one'], 'ONE'],
    ['Bash', bash, ['one'], { ...bash, stdout: 'ONE' }],
    ['mcp__a__b', [text('one'), text('two')], ['one', 'two'], [text('ONE'), text('TWO')]],
    [
      'mcp__a__b',
      {
        content: [
          { type: 'image', data: 'x' },
          { ...text('one'), _meta: { a: 1 } },
        ],
        b: 1,
      },
      ['one'],
      {
        content: [
          { type: 'image', data: 'x' },
          { ...text('ONE'), _meta: { a: 1 } },
        ],
        b: 1,
      },
    ],
  ])('%s: %j has them, and gets others', (tool, output, texts, other) => {
    const found = toolOutputOf(tool, output)
    expect(found?.texts).toEqual(texts)
    expect(found?.withTexts(texts.map(each => each.toUpperCase()))).toEqual(other)
  })

  it.each([
    ['Any', ''],
    ['Any', null],
    ['Bash', { stdout: 'one' }],
    ['Bash', { ...bash, stdout: '' }],
    ['Bash', { ...bash, isImage: true }],
    ['Bash', { ...bash, persistedOutputPath: '/tmp/x' }],
    ['Bash', [text('one')]],
    ['Read', { type: 'text', file: { filePath: 'a', content: 'one' } }],
    ['Other', bash],
    ['mcp__a__b', { content: [text('one')], structuredContent: { a: 1 } }],
    ['mcp__a__b', [{ type: 'text', text: 3 }, null, 'one']],
    ['mcp__haversack__a', [text('one')]],
  ])('%s: %j has none that is known', (tool, output) => {
    expect(toolOutputOf(tool, output)).toBeNull()
  })

  it('gives the same output for the same texts, whatever it is', () => {
    const some = fc.oneof(
      fc.jsonValue(),
      fc.array(fc.oneof(fc.string().map(text), fc.jsonValue())),
      fc.record({ stdout: fc.string(), stderr: fc.string(), isImage: fc.boolean() }),
    )
    fc.assert(
      fc.property(fc.constantFrom('Bash', 'mcp__a__b', 'Grep'), some, (tool, output) => {
        const found = toolOutputOf(tool, output)
        if (found !== null) expect(found.withTexts(found.texts)).toEqual(output)
      }),
    )
  })
})
