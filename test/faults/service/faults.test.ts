import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { jobRoute } from '../../../src/http/jobs/job-route.ts'
import { json, startTestService } from '../../integration/service/harness.ts'

type TestService = Awaited<ReturnType<typeof startTestService>>

let service: TestService

/**
 * A time limit only for the job that runs into it: the others take as long as the machine makes
 * them.
 */
const LIMIT_MS = { spin: 1_000, others: 60_000 }

const start = (job_timeout_ms: number) =>
  startTestService(
    { workers: { count: 2 }, limits: { job_timeout_ms } },
    {
      limits: { heapMb: () => 128 },
      workerUrl: new URL('../../integration/service/worker-with-faults.ts', import.meta.url),
      routes: ['exit', 'hoard', 'spin', 'bug'].map(op =>
        jobRoute({
          path: `/${op}`,
          op,
          summary: op,
          scope: 'encode',
          request: z.unknown(),
          answer: z.unknown(),
        }),
      ),
    },
  )

const services = new Map<number, Promise<TestService>>()
afterAll(async () => {
  for (const started of services.values()) await (await started).close()
})

/** The service for such jobs. */
function serviceFor(op: string): Promise<TestService> {
  const limitMs = op === 'spin' ? LIMIT_MS.spin : LIMIT_MS.others
  const started = services.get(limitMs) ?? start(limitMs)
  services.set(limitMs, started)
  return started
}

/** How many threads were lost, by reason. */
async function threadsLost(): Promise<Readonly<Record<string, number>>> {
  const text = await (await fetch(`${service.url}/metrics`)).text()
  const counted = text.matchAll(/haversack_threads_lost_total\{reason="(\w+)"\} (\d+)/g)
  return Object.fromEntries([...counted].map(([, reason, count]) => [reason, Number(count)]))
}

/** `count` good requests, each with an answer of its own to be told by. */
function goodOnes(count: number) {
  return Promise.all(
    Array.from({ length: count }, async (_, i) => {
      const answer = await json(
        service.post('/v1/count', JSON.stringify({ content: 'a '.repeat(i).trim() })),
      )
      return answer['tokens']
    }),
  )
}

describe.each([
  ['exit', 503, 'worker_lost', 'lost'],
  ['hoard', 503, 'worker_lost', 'lost'],
  ['spin', 504, 'timeout', 'timeout'],
  ['bug', 500, 'internal', null],
])('a job that ends in %s', (path, status, code, lost) => {
  let before: Readonly<Record<string, number>>
  beforeAll(async () => {
    service = await serviceFor(path)
    before = await threadsLost()
  })

  it('fails with its code while all others succeed', async () => {
    const [bad, some, worse, more] = await Promise.all([
      service.post(`/${path}`, '{}'),
      goodOnes(40),
      service.post(`/${path}`, '{}'),
      goodOnes(40),
    ])
    for (const response of [bad, worse]) {
      expect(response.status).toBe(status)
      const problem = await json(response)
      expect(problem['code']).toBe(code)
      expect(JSON.stringify(problem)).not.toContain('secret')
    }
    const expected = Array.from({ length: 40 }, (_, i) => i)
    expect(some).toEqual(expected)
    expect(more).toEqual(expected)
  })

  it('leaves a service that works', async () => {
    expect(await goodOnes(5)).toEqual([0, 1, 2, 3, 4])
  })

  it('is told of by the metrics where it cost a thread', async () => {
    const after = await threadsLost()
    const grown = Object.keys(after).filter(reason => after[reason]! > (before[reason] ?? 0))
    expect(grown).toEqual(lost === null ? [] : [lost])
  })
})
