import { describe, expect, it } from 'vitest'
import { AgentContexts } from '../../../src/ahead/agent-contexts.ts'
import { isEmptyResult } from '../../../src/mcp/ahead/result-texts.ts'

function setUp() {
  const clock = { now: 0 }
  const guard = new AgentContexts(() => clock.now)
  const empty = (times: number, context = 'x') => {
    for (let i = 0; i < times; i++) guard.observeResult(context, 'search', true)
  }
  const isRefused = (context = 'x', tool = 'search') => guard.refuse(context, tool, 2) !== null
  return { clock, guard, empty, isRefused }
}

// Contract, section 7; SOURCES.md#planner, "Real-world patterns", 8. In the predecessor a tool
// stayed blocked.
describe('fail-fast', () => {
  it('refuses one call after n results that were empty, and says so', () => {
    const { guard, empty } = setUp()
    empty(1)
    expect(guard.refuse('x', 'search', 2)).toBeNull()
    empty(1)
    expect(guard.refuse('x', 'search', 2)).toBe(
      '> [not called: the last 2 calls of this tool found nothing; try other arguments, or call it again]',
    )
    expect(guard.refuse('x', 'search', 2)).toBeNull()
  })

  it('is never a dead end, however often nothing is found', () => {
    const { empty, isRefused } = setUp()
    let refused = 0
    for (let i = 0; i < 30; i++) {
      if (isRefused()) {
        refused++
        expect(isRefused()).toBe(false)
      }
      empty(1)
    }
    expect(refused).toBe(14)
  })

  it('ends with a result that is not empty', () => {
    const { guard, empty, isRefused } = setUp()
    empty(5)
    guard.observeResult('x', 'search', false)
    expect(isRefused()).toBe(false)
    empty(1)
    expect(isRefused()).toBe(false)
  })

  it('ends after a minute', () => {
    const { clock, empty, isRefused } = setUp()
    empty(2)
    clock.now = 59_999
    empty(1)
    clock.now = 119_998
    expect(isRefused()).toBe(true)
    empty(2)
    clock.now += 60_000
    expect(isRefused()).toBe(false)
    empty(1)
    clock.now += 60_000
    empty(1)
    expect(isRefused()).toBe(false)
  })

  it('is of one context and tool, and only if the model asks for it', () => {
    const { guard, empty, isRefused } = setUp()
    empty(3)
    expect([isRefused('y'), isRefused('x', 'other')]).toEqual([false, false])
    expect(guard.refuse('x', 'search', undefined)).toBeNull()
    guard.forget('x')
    expect(isRefused()).toBe(false)
  })

  it('remembers a bounded number of contexts and tools', () => {
    const { guard, empty, isRefused } = setUp()
    empty(2)
    for (let i = 0; i < 10_000; i++) empty(1, `c${i}`)
    expect(isRefused()).toBe(false)
    for (let i = 0; i < 300; i++) guard.observeResult('y', `t${i}`, true)
    for (let i = 0; i < 300; i++) guard.observeResult('y', `t${i}`, true)
    expect([isRefused('y', 't0'), isRefused('y', 't299')]).toEqual([true, false])
  })
})

describe('a result', () => {
  it.each([
    ...['', ' \n', '[]', '{}', 'null', '""', '[ ]', 'No files found', 'No matches found.'],
    ...[
      'no results',
      '0 results',
      'No matching deferred tools found',
      '{"results": [], "total": 0}',
    ],
  ])('says that there is nothing: %j', text => {
    expect(isEmptyResult(text)).toBe(true)
  })

  it.each([
    ...['ok', '0', 'false', '[0]', '{"results":[1]}', '{"a":1}', '{"results":[],"error":"no"}'],
    ...['No', 'No problem', `${' '.repeat(300)}`, 'There are no files found here'],
  ])('says something: %j', text => {
    expect(isEmptyResult(text)).toBe(false)
  })
})
