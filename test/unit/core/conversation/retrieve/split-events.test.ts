import fc from 'fast-check'
import { expect, it } from 'vitest'
import { EventSplitter } from '../../../../../src/core/conversation/retrieve/split-events.ts'
import { runs } from '../../../../support/runs.ts'

const END = fc.constantFrom('\n', '\r\n', '\r')
const LINE = fc.constantFrom(
  'event: ping',
  'data: {"a":1}',
  'data: {"a":',
  'data: 2}',
  ': note',
  'id: 7',
)
const EVENT = fc.tuple(fc.array(LINE, { minLength: 1, maxLength: 4 }), END)

const text = (lines: readonly string[], end: string) => lines.map(line => line + end).join('') + end

it('gives the events of a stream, and all of its bytes, however it is cut', () => {
  fc.assert(
    fc.property(fc.array(EVENT), fc.array(fc.nat(9), { minLength: 1 }), (events, cuts) => {
      const stream = Buffer.from(events.map(([lines, end]) => text(lines, end)).join(''))
      const splitter = new EventSplitter()
      const found = []
      let at = 0
      for (let turn = 0; at < stream.length; turn++) {
        const end = at + 1 + cuts[turn % cuts.length]!
        found.push(...splitter.push(stream.subarray(at, end)))
        at = end
      }
      const bytes = Buffer.concat([...found.map(({ raw }) => raw), splitter.rest()])
      expect(bytes.equals(stream)).toBe(true)
      const whole = new EventSplitter().push(stream).map(({ name, data }) => ({ name, data }))
      expect(found.map(({ name, data }) => ({ name, data }))).toEqual(whole)
      expect(whole).toHaveLength(events.length)
    }),
    { numRuns: runs(300) },
  )
})

it('lets an event pass that is too long to be read', () => {
  const splitter = new EventSplitter()
  const long = Buffer.from(`data: ${'x'.repeat(5 * 1024 * 1024)}`)
  const [event] = splitter.push(long)
  expect(event?.data).toBeUndefined()
  expect(event?.raw.length).toBe(long.length)
})
