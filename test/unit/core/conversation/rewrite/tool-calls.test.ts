import { describe, expect, it } from 'vitest'
import { argsOf } from '../../../../../src/core/conversation/rewrite/message-texts.ts'

describe('the arguments of a call', () => {
  it('are read once for all of its results, whichever way the vendor gives them', () => {
    let read = 0
    const args = {
      toJSON() {
        read++
        return { a: 1 }
      },
    }
    expect([argsOf({ args }), argsOf({ args })]).toEqual([{ a: 1 }, { a: 1 }])
    expect(read).toBe(1)
    const call = { args: '{"a":1}' }
    expect(argsOf(call)).toEqual({ a: 1 })
    expect(argsOf(call)).toBe(argsOf(call))
  })

  it.each([
    ['no JSON', { args: 'x' }],
    ['none', {}],
  ])('are not known where there is %s', (_, call) => {
    expect(argsOf(call)).toBeUndefined()
  })
})
