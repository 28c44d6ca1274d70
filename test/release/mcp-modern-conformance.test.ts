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

const UNLISTED = 'The scenario reads the list for a tool, which is found by a search.'

/**
 * Checks that want a tool of the server in the list. All pass again with `keep = ["*"]`.
 */
const NEED_A_LISTED_TOOL: Readonly<Record<string, string>> = {
  'json-schema-2020-12-tool-found': UNLISTED,
  'sep-2243-server-no-xmcp-tool': UNLISTED,
  'sep-2243-server-decode-base64': UNLISTED,
  'sep-2243-server-validate-param-match': UNLISTED,
  'sep-2243-server-reject-invalid-param-chars': UNLISTED,
  'sep-2243-server-reject-param-mismatch': UNLISTED,
  // A list that did not change is not announced: a new one costs the provider's cache.
  'sep-2575-server-sends-tools-list-changed-on-subscription': 'A SHOULD, about a hidden tool.',
}

test.each([
  ['modern', { mode: 'never' }, {}],
  ['legacy', { mode: 'never' }, IMPOSSIBLE],
  ['modern', { mode: 'always' }, NEED_A_LISTED_TOOL],
  ['modern', { mode: 'always', keep: ['*'] }, {}],
] as const)(
  'clients of 2026-07-28 get all that it requires before a %s server, with search %j',
  async (era, search, impossible) => {
    const fixture = await startFixture(era)
    const servers = { one: { url: fixture.url } }
    const service = await startGatewayService({}, { mcp: { servers, search } })
    try {
      const results = await runConformance(`${service.url}/mcp`, '2026-07-28')
      expect(results.filter(({ required }) => required)).toHaveLength(37)
      // The fixture offers no tasks. All others pass directly, also those that are not required.
      const asked = results.filter(({ scenario }) => !scenario.startsWith('tasks-'))
      const failed = asked.flatMap(({ scenario, checks }) => {
        const faults = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
        return checks.length === 0 ? [scenario] : faults.map(({ id }) => id)
      })
      expect([...new Set(failed)].sort()).toEqual(Object.keys(impossible).sort())
    } finally {
      await service.close()
      await fixture.close()
    }
  },
)
