import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

/** Functions of the language that take any number of arguments. */
const CALL =
  /\.(?:push|unshift|splice|concat|apply|assign|max|min|of|fromCharCode|fromCodePoint)\(/g

/**
 * The lines on which a call of one of them has a list as its arguments. Each argument takes room
 * on the stack, so that 125,000 of them end the call with a RangeError.
 */
function spreadsIn(code: string): readonly string[] {
  const found: string[] = []
  for (const { index, 0: call } of code.matchAll(CALL)) {
    let depth = 1
    for (let at = index + call.length; at < code.length && depth > 0; at++) {
      const char = code[at]!
      if ('([{'.includes(char)) depth++
      else if (')]}'.includes(char)) depth--
      else if (depth === 1 && code.startsWith('...', at)) {
        found.push(code.slice(code.lastIndexOf('\n', index) + 1, code.indexOf('\n', at)).trim())
        break
      }
    }
  }
  return found
}

describe('lists as arguments', () => {
  it('spreads of lists as arguments are found', () => {
    const code =
      'a.push(...b)\nMath.max(0, ...c.map(d => [...d]))\ne.push([...f])\ng.push(...[...h])'
    expect(spreadsIn(code)).toHaveLength(3)
  })

  it('are nowhere, since they may be long', () => {
    const files = globSync(['src/**/*.ts', 'workers/**/*.ts'])
    expect(files.length).toBeGreaterThan(500)
    const found = files.flatMap(file =>
      spreadsIn(readFileSync(file, 'utf8')).map(line => `${file}: ${line}`),
    )
    expect(found).toEqual([])
  })
})

it('no object is spread for its layout alone: each field has a line', () => {
  const files = globSync(['src/**/*.ts', 'workers/**/*.ts'])
  const found = files.filter(file => /^\s*\.\.\.\{ .* \},?$/m.test(readFileSync(file, 'utf8')))
  expect(found).toEqual([])
})
