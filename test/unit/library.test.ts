import { expect, it } from 'vitest'
import { decode, encode } from '../../src/index.ts'

it('refuses a session, of which it would know nothing at the next call', () => {
  const content = 'one\ntwo\n'
  const plain = { content }
  const refused = { code: 'invalid_request', detail: expect.stringMatching(/^session: .*service/) }
  expect(() => encode({ ...plain, session: 's' })).toThrow(expect.objectContaining(refused))
  const { format } = encode(plain)
  expect(decode({ content, format }).content).toBe(content)
  expect(() => decode({ content, format, session: 's' })).toThrow(expect.objectContaining(refused))
})
