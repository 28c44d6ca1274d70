import { expect, it } from 'vitest'
import type { ReadingLevel } from '../../../../../src/core/reading/constructs.ts'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'

const read = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, at) => {
    const n = from + at
    return `${String(n).padStart(6)}\tconst row${n * 31} = measure(${n})`
  }).join('\n')

/** The answer to lines of which the agent has seen some. */
function readAgain(seen: number, reading: ReadingLevel) {
  const { encode } = createLocalSessions(localContext(), { bodyBytes: 1 << 18 })
  const result = { session: 's', tool: 'Read', reading }
  encode({ ...result, args: { limit: seen }, content: read(1, 40) })
  return encode({ ...result, args: {}, content: read(40 - seen, 90) })
}

it('sends a reference only if it saves its price more than the form of all lines', () => {
  const formats = (seen: number, reading: ReadingLevel) => readAgain(seen, reading).format
  expect(formats(4, 'dense')).toBe('lines@1;numbered@1;tab')
  expect(formats(4, 'balanced')).toBe('numbered@1;tab')
  const saved = readAgain(4, 'balanced').tokens.final - readAgain(4, 'dense').tokens.final
  expect(saved).toBeGreaterThan(0)
  expect(saved).toBeLessThan(20)
  expect(formats(5, 'balanced')).toBe('lines@1;numbered@1;tab')
})
