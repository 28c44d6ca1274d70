import { expect, test } from 'vitest'
import { HintReader, readToolCall } from '../../../../src/core/hints/reader.ts'
import { type Json, writeToolCall } from '../../../../src/core/hints/tool-call.ts'

test.each<[name: string, args: { [argument: string]: Json }, text: string]>([
  ['list', {}, 'list()'],
  ['get_issues', { status: 'open', page: 2 }, 'get_issues(status="open", page=2)'],
  ['mcp__a.b/c', { a: null, b: true, c: -1.5 }, 'mcp__a.b/c(a=null, b=true, c=-1.5)'],
  ['a b', { 'c d': '' }, '"a b"("c d"="")'],
  ['q', { l: [1, ['x']], o: { k: {}, m: [] } }, 'q(l=[1, ["x"]], o={"k": {}, "m": []})'],
  ['q', { s: '"]\\\n)' }, String.raw`q(s="\"\u005d\\\n)")`],
])('%s %j', (name, args, text) => {
  expect(writeToolCall({ name, args })).toBe(text)
  expect(callIn(text)).toStrictEqual({ name, args })
})

test.each([
  '',
  'list',
  'list(',
  'list() ',
  'list(page)',
  'list(page=)',
  'list(page=2',
  'list(page=2,)',
  'list(page=2,per=3)',
  'list(page=02)',
  'list(page=two)',
  'list(page=2)(x=1)',
  'list(…, page=2)',
  'list(page=2, page=3)',
  `list(a=${'['.repeat(1000)}${']'.repeat(1000)})`,
])('no call: %s', text => {
  expect(callIn(text)).toBeNull()
})

/** The call that a whole text is, if it is written as we write it. */
function callIn(text: string) {
  const reader = new HintReader(text)
  const call = readToolCall(reader)?.call ?? null
  return call !== null && reader.atEnd && writeToolCall(call) === text ? call : null
}
