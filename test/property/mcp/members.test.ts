import fc from 'fast-check'
import { expect, it } from 'vitest'
import { member, withMember, withoutMember } from '../../../src/mcp/members.ts'
import { runs } from '../../support/runs.ts'

const NAME = fc.constantFrom('a', 'é', '_meta', 'x"y', '')
const OBJECT = fc.dictionary(NAME, fc.jsonValue(), { noNullPrototype: true })
const SPACING = fc.constantFrom(undefined, 1, '\t', ' \r\n ')

it('changes what parsing, changing and writing changes', () => {
  fc.assert(
    fc.property(OBJECT, NAME, fc.jsonValue(), SPACING, (object, name, value, spacing) => {
      const source = JSON.stringify(object, null, spacing)
      const raw = JSON.stringify(value)
      const plain = JSON.parse(source)
      const before = member(Buffer.from(source), name)
      expect(before === undefined ? undefined : JSON.parse(String(before))).toEqual(plain[name])

      const changed = withMember(Buffer.from(source), name, raw) as Buffer
      expect(JSON.parse(String(changed))).toEqual({ ...plain, [name]: JSON.parse(raw) })
      expect(String(member(changed, name))).toBe(raw)

      const removed = withoutMember(Buffer.from(source), name) as Buffer
      delete plain[name]
      expect(JSON.parse(String(removed))).toEqual(plain)
    }),
    { numRuns: runs(2000) },
  )
})
