import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  countChecks,
  type Revision,
  runConformance,
  type ScenarioResult,
} from '../support/mcp/conformance.ts'
import { type FixtureProcess, startFixture } from '../support/mcp/fixture-process.ts'

/** How many scenarios are required, and how many checks they hold. */
const EXPECTED: readonly (readonly [Revision, number, number])[] = [
  ['2025-11-25', 30, 70],
  ['2026-07-28', 37, 120],
]

/** Scenarios of the tasks extension, which the fixture does not offer. */
const isTasks = ({ scenario }: ScenarioResult) => scenario.startsWith('tasks-')

describe('the MCP fixture, without a gateway', () => {
  let fixture: FixtureProcess
  beforeAll(async () => {
    fixture = await startFixture()
  })
  afterAll(() => fixture.close())

  test.each(EXPECTED)('passes all that %s requires', async (revision, scenarios, checks) => {
    const results = await runConformance(fixture.url, revision)
    const required = results.filter(result => result.required)
    expect(required).toHaveLength(scenarios)
    expect(failuresOf(results.filter(result => !isTasks(result)))).toEqual([])
    expect(countChecks(results)).toEqual({ succeeded: checks, failed: 0 })
  })

  test('fails if the server does not know the revision', async () => {
    const legacy = await startFixture('legacy')
    try {
      const results = await runConformance(legacy.url, '2026-07-28')
      expect(results.filter(({ required, passed }) => required && !passed).length).toBeGreaterThan(
        30,
      )
    } finally {
      await legacy.close()
    }
  })
})

function failuresOf(results: readonly ScenarioResult[]) {
  return results.flatMap(({ scenario, passed, checks }) =>
    passed ? [] : [{ scenario, checks: checks.filter(({ status }) => status !== 'SUCCESS') }],
  )
}
