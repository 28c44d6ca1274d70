import { expect, test } from 'vitest'
import { runConformance, type ScenarioResult } from '../../support/mcp/conformance.ts'
import { fixtureCommand, startFixture } from '../../support/mcp/fixture-process.ts'
import { startGatewayService } from '../../support/mcp/gateway-service.ts'

const overHttp = async (eras: 'legacy' | 'modern') => {
  const fixture = await startFixture(eras)
  return { server: { url: fixture.url }, close: () => fixture.close() }
}

/** Servers behind the gateway. */
const UPSTREAMS = [
  ['a legacy server over HTTP', () => overHttp('legacy')],
  [
    'a legacy server over stdio',
    async () => ({ server: fixtureCommand('legacy'), close: async () => {} }),
  ],
  ['a modern server over HTTP', () => overHttp('modern')],
] as const

const [OVER_HTTP] = UPSTREAMS

test.each([
  ...UPSTREAMS.map(each => [...each, 'never'] as const),
  ['tools on demand of one', OVER_HTTP[1], 'always'] as const,
])('%s passes what 2025-11-25 requires, through the service', async (_, start, mode) => {
  const upstream = await start()
  const servers = { one: upstream.server }
  const service = await startGatewayService({}, { mcp: { servers, search: { mode } } })
  try {
    const results = await runConformance(`${service.url}/mcp`, '2025-11-25')
    const required = results.filter(each => each.required)
    expect(required).toHaveLength(30)
    expect(failuresOf(required).map(({ scenario }) => scenario)).toEqual([])
  } finally {
    await service.close()
    await upstream.close()
  }
})

const failuresOf = (results: readonly ScenarioResult[]) => results.filter(({ passed }) => !passed)
