import { readFileSync } from 'node:fs'
import { residentMib } from '../support/machine.ts'
import { load, runPlan, startServer } from '../support/processes.ts'
import { identifierBodies } from './bodies.ts'
import { type OpenPlan, type OpenResult, SLICE_MS } from './open-plan.ts'

const OVERLOAD = 10
/** A load that leaves the service most of its time. */
const LIGHT = 0.2
/** How much slower than before still counts as what it was. */
const RECOVERED = 1.5

/** Open loop at ten times capacity, and the latency of a light load before and right after it. */
export async function overload(folder: string, seconds: number) {
  const server = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const bodies = identifierBodies(folder, 60_000, 32)
  const target = { port: server.port, path: '/v1/encode', method: 'POST', bodies } as const
  const capacity = await capacityOf({ ...target, connections: 8, seconds: 4 })
  const open = (share: number, duration: number) =>
    runPlan<OpenResult>('service/open-load.ts', {
      ...target,
      per_second: capacity * share,
      seconds: duration,
      max_connections: 4_000,
    } satisfies OpenPlan)

  await open(LIGHT, 2)
  const before = await open(LIGHT, 6)
  const idleMib = residentMib(server.pid)
  let peakMib = 0
  const sampling = setInterval(() => {
    peakMib = Math.max(peakMib, residentMib(server.pid))
  }, 100)
  const during = await open(OVERLOAD, seconds)
  clearInterval(sampling)
  const after = await open(LIGHT, 4)
  await server.stop()
  return {
    capacity_per_second: capacity,
    body_bytes: readFileSync(bodies, 'utf8').indexOf('\n'),
    before: before.accepted,
    during,
    after: after.accepted,
    recovered_ms: recoveredMs(after, before.accepted.p50_ms * RECOVERED),
    idle_mib: idleMib,
    peak_mib: peakMib,
  }
}

async function capacityOf(plan: Parameters<typeof load>[0]): Promise<number> {
  await load({ ...plan, seconds: 3 })
  return (await load(plan)).per_second
}

/**
 * From the start of the light load to the end of the first quarter second with a median below
 * `limitMs`.
 */
function recoveredMs({ slices }: OpenResult, limitMs: number): number {
  const first = slices.findIndex(({ count, p50_ms }) => count > 0 && p50_ms <= limitMs)
  return first === -1 ? Number.POSITIVE_INFINITY : (first + 1) * SLICE_MS
}
