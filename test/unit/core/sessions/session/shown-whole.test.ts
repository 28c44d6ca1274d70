import { expect, it } from 'vitest'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'

const lines = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    return `export const row${n * 31} = measure("${(n * 7919).toString(36)}")`
  })

it('an equal result is one reference only if the first was shown whole', () => {
  const { encode } = createLocalSessions(localContext(), { bodyBytes: 1 << 18 })
  const read = (path: string, content: string) =>
    encode({ session: 's', tool: 'Read', args: { path }, content })
  const first = lines(0, 30).join('\n')
  const mixed = [...lines(10, 30), ...lines(50, 80)].join('\n')
  read('a', first)
  expect(read('b', mixed).format).toBe('lines@1')
  // Its first lines are in the first result, and the others in the second.
  const again = read('b', mixed)
  expect(again.format).toBe('lines@1')
  expect(
    again.content.split('\n').map(line => /lines \S+ of Read.*(?= calls? ago)/.exec(line)?.[0]),
  ).toEqual(['lines 11-30 of Read 2', 'lines 21-50 of Read 1'])
  expect(read('a', first).format).toBe('ref@1')
})

it('what changed since a result is said only of one whose value was shown', () => {
  const { encode } = createLocalSessions(localContext(), { bodyBytes: 1 << 18 })
  const fields = Object.fromEntries(lines(0, 20).map((line, at) => [`field_${at}`, line]))
  const poll = (minute: number, log: string) =>
    encode({
      session: 's',
      tool: 'poll',
      args: {},
      content: JSON.stringify({ minute, ...fields, log }),
    })
  // Texts of several lines stand below the values, in a form of their own.
  const log = lines(20, 60).join('\n')
  expect(poll(1, log).format).toMatch(/^strings@1/)
  expect(poll(2, log).format).not.toBe('changes@1')
  expect(poll(3, 'done').format).toMatch(/^tree@2/)
  expect(poll(4, 'done').format).toBe('changes@1')
})
