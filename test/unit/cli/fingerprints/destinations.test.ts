import { expect, it } from 'vitest'
import { sharesOf } from '../../../../src/cli/fingerprints/destinations.ts'
import { LIMITS } from '../../../../src/core/fingerprints/fingerprint.ts'
import { NOW, row } from '../../fingerprints/rows.ts'

it('an upload has the spans with the most sessions, and counts those beyond its limit', () => {
  const few = Array.from({ length: 500 }, () => row({ source_sessions: 5 }))
  const many = Array.from({ length: LIMITS.rows }, () => row({ source_sessions: 9 }))
  const to = { name: 'team large', to: {} as never, member: 'm', servers: null }
  const [share] = sharesOf([to], [...few, ...many], NOW)
  expect(share).toMatchObject({ name: 'team large', member: 'm', left_out: 500 })
  expect(share?.rows).toEqual(many)
})
