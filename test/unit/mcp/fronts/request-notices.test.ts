import { expect, it } from 'vitest'
import { wantedNotice } from '../../../../src/mcp/fronts/modern/request-notices.ts'

const PROGRESS = 'notifications/progress'
const envelope = (token: string | null) => ({
  capabilities: Buffer.from('{}'),
  clientInfo: null,
  logLevel: null,
  progressToken: token === null ? null : Buffer.from(token),
})

it('gives progress the token of this very request, and none to a request without one', () => {
  const params = Buffer.from('{"progressToken":"first","progress":1.0}')
  expect(wantedNotice(PROGRESS, params, envelope(null))).toBeNull()
  const own = wantedNotice(PROGRESS, params, envelope('7'))
  expect(String(own)).toBe('{"progressToken":7,"progress":1.0}')
})
