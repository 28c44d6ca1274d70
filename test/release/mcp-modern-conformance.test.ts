import { expect, test } from 'vitest'
import { runConformance } from '../support/mcp/conformance.ts'
import { startFixture } from '../support/mcp/fixture-process.ts'
import { startGatewayService } from '../support/mcp/gateway-service.ts'

const NEGOTIATED =
  'Both parties MUST: [...] Only use capabilities that were successfully negotiated'

/**
 * Checks that no gateway in front of a server of an earlier revision can pass, and what in that
 * server's revision, 2025-11-25, makes it so.
 */
const IMPOSSIBLE: Readonly<Record<string, string>> = {
  // Servers ask by requests, which have ids of their own. The scenario wants the key `user_name`,
  // which such a server never sends.
  'sep-2322-elicitation-incomplete': 'Requests MUST include a string or integer ID.',
  // The server sees that the client cannot do it, and asks nothing. What it answers is its own
  // matter: the code -32021 came with 2026-07-28.
  'sep-2575-server-rejects-undeclared-capability': NEGOTIATED,
  'sep-2575-missing-capability-http-400': NEGOTIATED,
}

test.each(['modern', 'legacy'] as const)(
  'clients of 2026-07-28 get all that it requires before a %s server',
  async era => {
    const fixture = await startFixture(era)
    const service = await startGatewayService({ one: { url: fixture.url } })
    try {
      const results = await runConformance(`${service.url}/mcp`, '2026-07-28')
      expect(results.filter(({ required }) => required)).toHaveLength(37)
      // The fixture offers no tasks. All others pass directly, also those that are not required.
      const asked = results.filter(({ scenario }) => !scenario.startsWith('tasks-'))
      const failed = asked.flatMap(({ scenario, checks }) => {
        const faults = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        return checks.length === 0 ? [scenario] : faults.map(({ id }) => id)
      })
      const allowed = era === 'legacy' ? Object.keys(IMPOSSIBLE) : []
      expect([...new Set(failed)].sort()).toEqual(allowed.sort())
    } finally {
      await service.close()
      await fixture.close()
    }
  },
)
