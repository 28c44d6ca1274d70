import { hash } from 'node:crypto'
import { expect, test } from 'vitest'
import { ContextLog } from '../../support/replica-faults/context-log.ts'

const idOf = (text: string) => hash('sha256', text).slice(0, 8)
const lines = (name: string) => Array.from({ length: 9 }, (_, i) => `${name} ${i}`).join('\n')
const call = (argument: string, text = lines(argument)) => ({ tool: 'Read', argument, text })
const A = idOf(lines('a'))
const B = idOf(lines('b'))

/** An agent that has read `a` and `b`, and now makes its third call. */
function readTwo(): ContextLog {
  const log = new ContextLog()
  for (const name of ['a', 'b']) log.hold(call(name), log.next())
  log.next()
  return log
}
const kindsOf = (log: ContextLog, content: string) => log.judge(content, 3).map(({ kind }) => kind)

test.each([
  `> [ref ${A} Read 2 calls ago]`,
  `> [ref ${B} Read 1 call ago]`,
  `> [ref ${A} Read(a)]`,
  `> [ref ${A} Read("a") 2 calls ago]`,
  `> [ref ${A} lines 1-9 of Read 2 calls ago]\nnew\n> [ref ${B} lines 2-3 of Read(*b), numbers +3]`,
  'no reference at all',
])('what is true is no fault: %s', content => {
  expect(kindsOf(readTwo(), content)).toEqual([])
})

test.each([
  ['a distance that is off by one', `> [ref ${A} Read 1 call ago]`, 'distance'],
  ['a distance of lines', `> [ref ${B} lines 1-3 of Read 2 calls ago]`, 'distance'],
  ['a text of another agent', `> [ref ${idOf('other')} Read 1 call ago]`, 'foreign'],
  ['another tool', `> [ref ${A} Grep 2 calls ago]`, 'call'],
  ['another argument', `> [ref ${A} Read(b) 2 calls ago]`, 'call'],
  ['another end of an argument', `> [ref ${A} Read(*b)]`, 'call'],
  ['lines that the text does not have', `> [ref ${A} lines 3-10 of Read(a)]`, 'lines'],
])('%s is found', (_, content, kind) => {
  expect(kindsOf(readTwo(), content)).toEqual([kind])
})

test('after a compaction nothing from before it may be named', () => {
  const log = readTwo()
  log.compact()
  expect(kindsOf(log, `> [ref ${A} Read 2 calls ago]`)).toEqual(['foreign'])
  expect(log.textOf(A)).toBeNull()
  log.hold(call('a'), 3)
  expect(log.judge(`> [ref ${A} Read 1 call ago]`, 4)).toEqual([])
  expect(log.textOf(A)).toBe(lines('a'))
})
