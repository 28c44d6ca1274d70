import { describe, expect, it } from 'vitest'
import type { EarlierCall } from '../../../../src/core/hints/hint.ts'
import { AgentContexts, identityOf } from '../../../../src/core/verify/agent-contexts.ts'
import { wasShown, wrongEarlier } from '../../../../src/core/verify/check-hints.ts'
import type { CheckedAnswer } from '../../../../src/core/verify/checked-answer.ts'
import { exchange } from './hand-written.ts'

const LONG = `${'a word '.repeat(100)}and the last`

/** The calls of a context, in their order; the answer to the first shows the reference `shown`. */
const CALLS = [
  { tool: 'Read', args: { file_path: '/src/one/index.ts' }, content: 'one' },
  { tool: 'Read', args: { file_path: '/src/two/index.ts' }, content: 'two' },
  { tool: 'Bash', args: { command: 'npm run build' }, content: 'built' },
  { tool: 'Job', args: { id: 71 }, content: 'seventy' },
  { tool: 'Job', args: { id: 7, note: LONG }, content: 'seven' },
  { tool: 'Bash', args: { command: 'npm run build' }, content: 'built again' },
  { tool: 'List', args: [1], content: 'listed' },
  { tool: 'Fail', args: {}, content: 'no', is_error: true },
]

function context() {
  const filled = new AgentContexts().of({})
  for (const request of CALLS) {
    const { answer } = exchange(request, request.content === 'one' ? 'shown: 0a1b2c3d' : '')
    filled.addResult({ request, answer, identity: identityOf(request.content) })
  }
  return filled
}

/** What is wrong with a reference to `content` that names `call`. */
function wrong(content: string, call?: EarlierCall, digits = 8): string | null {
  const ref = identityOf(content).slice(0, digits)
  const checked = { context: context(), identity: identityOf('itself') }
  return wrongEarlier({ ref, ...(call && { call }) }, checked as CheckedAnswer)
}

type Case = readonly [content: string, call: EarlierCall]

describe('a reference', () => {
  it.each<Case>([
    ['one', { tool: 'Read', argument: '/src/one/index.ts' }],
    ['one', { tool: 'Read', argument: { end: 'one/index.ts' } }],
    ['one', { tool: 'Read', argument: { start: '/src/one' } }],
    ['two', { tool: 'Read', argument: { end: '/index.ts' } }],
    ['one', { tool: 'Read', argument: { end: '/index.ts' }, calls_ago: 8 }],
    ['two', { tool: 'Read' }],
    ['two', { tool: 'Read', calls_ago: 7 }],
    ['one', { tool: 'Read', calls_ago: 8 }],
    ['built again', { tool: 'Bash', argument: 'npm run build' }],
    ['built', { tool: 'Bash', argument: 'npm run build', calls_ago: 6 }],
    ['seventy', { tool: 'Job', argument: '71' }],
    ['seven', { tool: 'Job', argument: { start: 'a word' } }],
    ['seven', { tool: 'Job', argument: { end: 'and the last' } }],
    ['listed', { tool: 'List', calls_ago: 2 }],
  ])('is true: to %j as %j', (content, call) => {
    expect(wrong(content, call)).toBeNull()
    expect(wrong(content, call, 64)).toBeNull()
  })

  const OTHER = 'the latest call of this name had another text'
  const NO_CALL = 'no earlier call is so named'

  it.each<readonly [...Case, reason: string]>([
    ['one', { tool: 'Read', argument: '/src/two/index.ts' }, OTHER],
    ['one', { tool: 'Read', argument: { end: 'two/index.ts' } }, OTHER],
    ['one', { tool: 'Read', argument: { end: '/index.ts' } }, OTHER],
    ['one', { tool: 'Read' }, OTHER],
    ['built', { tool: 'Bash', argument: 'npm run build' }, OTHER],
    ['one', { tool: 'Read', argument: '/src/one/index' }, NO_CALL],
    ['one', { tool: 'Read', argument: { end: 'src/one' } }, NO_CALL],
    ['one', { tool: 'Read', argument: { start: 'one/index.ts' } }, NO_CALL],
    ['one', { tool: 'read' }, NO_CALL],
    ['seventy', { tool: 'Job', argument: '7' }, NO_CALL],
    ['seven', { tool: 'Job', argument: { end: 'a word' } }, NO_CALL],
    ['listed', { tool: 'List', argument: '1' }, NO_CALL],
    ['one', { tool: 'Read', calls_ago: 7 }, '7 calls ago was another text'],
    ['one', { tool: 'Read', calls_ago: 9 }, '9 calls ago no call had this name'],
    ['two', { tool: 'Read', calls_ago: 6 }, '6 calls ago no call had this name'],
    ['two', { tool: 'Read', calls_ago: 8 }, '8 calls ago was another text'],
    ['listed', { tool: 'List', calls_ago: 1 }, '1 calls ago no call had this name'],
    ['no', { tool: 'Fail', calls_ago: 1 }, 'it refers to an error'],
  ])('is a lie: to %j as %j', (content, call, reason) => {
    expect(wrong(content, call)).toBe(reason)
  })

  it('without a call is true if its id is known', () => {
    expect(wrong('one')).toBeNull()
    expect(wrong('itself')).toMatch(/is no earlier result of this context; it is this result/)
    expect(wrong('never')).toMatch(/is no earlier result of this context$/)
  })
})

it('knows which ids an answer showed', () => {
  expect(wasShown('0a1b2c3d', context())).toBe(true)
  expect(wasShown('0a1b2c3e', context())).toBe(false)
})
