import { expect, it } from 'vitest'
import { factsOf } from '../../core/telemetry/events.ts'
import { eventsIn, START_MS, summariesIn, TENANT, testTelemetry } from './writer.ts'

const YEAR_MS = 366 * 86_400_000

it('neither ends sessions nor deletes files by a clock that jumps ahead', async () => {
  const telemetry = testTelemetry({ idle_ms: 60_000 })
  telemetry.clock.steady = START_MS
  telemetry.record(TENANT, factsOf())
  telemetry.clock.now += YEAR_MS
  await telemetry.upkeep()
  expect(await summariesIn(telemetry.folder)).toEqual([])
  expect(await eventsIn(telemetry.folder)).toHaveLength(1)

  telemetry.clock.steady += YEAR_MS
  await telemetry.upkeep()
  expect(await eventsIn(telemetry.folder)).toEqual([])
  await telemetry.close()
})
