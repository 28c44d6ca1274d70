import { expect, it } from 'vitest'
import {
  currentVerdict,
  keepVerdict,
  type Verdicts,
} from '../../../../src/mcp/upstream/verdicts.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

it('a verdict is believed for a day, by server and credential', () => {
  const clock = createFakeClock()
  const verdicts: Verdicts = new Map()
  const facts = { capabilities: Buffer.from('{}'), serverInfo: null, instructions: null }
  keepVerdict(verdicts, 'a', clock, { ...facts, era: 'legacy', protocolVersion: '2025-11-25' })
  clock.advance(24 * 3_600_000 - 1)
  expect(currentVerdict(verdicts, 'a', clock)?.era).toBe('legacy')
  expect(currentVerdict(verdicts, 'b', clock)).toBeUndefined()
  clock.advance(1)
  expect(currentVerdict(verdicts, 'a', clock)).toBeUndefined()
  expect(verdicts.size).toBe(0)
})
