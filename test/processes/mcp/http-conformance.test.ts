import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { configSchema } from '../../../src/config/config.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { startService } from '../../../src/service/service.ts'
import { runConformance } from '../../support/mcp/conformance.ts'
import { fixtureCommand, startFixture } from '../../support/mcp/fixture-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-http-conformance-'))
afterAll(() => rmSync(folder, { recursive: true }))

const overHttp = async (eras: 'legacy' | 'modern') => {
  const fixture = await startFixture(eras)
  return { server: { url: fixture.url }, close: () => fixture.close() }
}

/**
 * Scenarios that pass directly, and cannot pass in front of such a server. 2026-07-28, Major
 * changes: a server has no requests of its own and no sessions, so nothing of it is left that could
 * be asked or polled in the middle of a call.
 */
const UPSTREAMS = [
  ['a legacy server over HTTP', () => overHttp('legacy')],
  [
    'a legacy server over stdio',
    async () => ({ server: fixtureCommand('legacy'), close: async () => {} }),
  ],
  ['a modern server over HTTP', () => overHttp('modern')],
] as const

test.each(UPSTREAMS)('%s passes all that 2025-11-25 requires, through the service', async (_, start) => {
  const upstream = await start()
  const config = configSchema.parse({
    port: 0,
    data_dir: mkdtempSync(join(folder, 'data-')),
    workers: { count: 1 },
    limits: { drain_grace_ms: 0 },
    mcp: { servers: { one: upstream.server } },
  })
  const service = await startService(config, { logger: createLogger('silent') })
  try {
    const results = await runConformance(`${service.url}/mcp`, '2025-11-25')
    expect(results.filter(({ required }) => required)).toHaveLength(30)
    const failed = results.filter(({ required, passed }) => required && !passed)
    expect(failed.map(({ scenario, checks }) => ({ scenario, checks: checks.filter(({ status }) => status === 'FAILURE') }))).toEqual([])
  } finally {
    await service.close()
    await upstream.close()
  }
})
