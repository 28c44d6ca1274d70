import { describe, expect, it } from 'vitest'
import { shorterText } from '../../../../src/tune/audit/shorter-text.ts'

const tool = (description: string, parameters: Record<string, string> = {}) => ({
  ...{ server: 's', tool: 't', hash: 'h', raw: '', sent: '', description },
  parameters: Object.entries(parameters).map(([name, text]) => ({ name, description: text })),
})

describe('a shorter text', () => {
  it('has no superfluous white space', () => {
    const shorter = shorterText(tool('First line.  \n\n    Second.\n      - deeper\n    '))
    expect(shorter).toEqual({
      description: 'First line.\nSecond.\n  - deeper',
      parameters: {},
      steps: ['white space'],
    })
  })

  it('keeps white space within fences', () => {
    expect(shorterText(tool('See:\n```\na\n\n  b\n```'))).toBeNull()
  })

  it('gives the schema the texts of parameters that it lacks', () => {
    const text =
      'Adds.\n\nArgs:\n    a (int): The first number.\n    b: The second one\n\nReturns:\n    sum'
    expect(shorterText(tool(text, { a: 'the first number', b: '' }))).toEqual({
      description: 'Adds.\nReturns:\n    sum',
      parameters: { b: 'The second one' },
      steps: ['white space', 'a list of parameters that the schema has'],
    })
  })

  it.each([
    ['says more than the schema', 'Adds.\nArgs:\n- a: a number from 1 to 9', { a: 'a number' }],
    ['has a line that goes on', 'Adds.\nArgs:\n- a: a number\n  from 1 to 9', { a: 'a number' }],
    ['names no parameter of the schema', 'Adds.\nArgs:\n- c: a number', { a: 'a number' }],
  ])('keeps a list that %s', (_, text, parameters) => {
    expect(shorterText(tool(text, parameters))).toBeNull()
  })

  it('takes a parameter for what it is, whatever its name', () => {
    const shorter = shorterText(tool('T.\nArgs:\n- __proto__: x y', JSON.parse('{"__proto__":""}')))
    expect(Object.entries(shorter!.parameters)).toEqual([['__proto__', 'x y']])
  })
})
