import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FULL_RUNS } from '../../support/runs.ts'
import { json, startSmallService } from './harness.ts'

let service: Awaited<ReturnType<typeof startSmallService>>
beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
})
afterAll(() => service.close())

const send = (request: unknown) => service.post('/v1/knapsack', JSON.stringify(request))

/** A short run shows the same with fewer. */
const CLASSES = FULL_RUNS ? 20_000 : 4_000

describe('POST /v1/knapsack', () => {
  it(`takes ${6 * CLASSES} options`, async () => {
    const classes = Array.from({ length: CLASSES }, (_, i) => ({
      id: `class ${i}`,
      required: i % 2 === 0,
      options: Array.from({ length: 6 }, (_, j) => ({
        id: `${j}`,
        cost: 1 + ((i * 7_919 + j * 104_729) % 1_000),
        value: (i * 31 + j * 17) % 997,
      })),
    }))
    const answer = await json(send({ classes, budget: 250 * CLASSES, time_limit_ms: 10_000 }))
    expect(answer).toMatchObject({ optimal: true, upper_bound: answer['value'] })
    expect(Object.keys(answer['picks'] as object)).toHaveLength(CLASSES)
  })

  it('hostile ids come back from a knapsack unchanged', async () => {
    const body =
      '{"classes":[{"id":"__proto__","options":[{"id":"__proto__","cost":1,"value":2}]}],"budget":1}'
    const response = await service.post('/v1/knapsack', body)
    expect(await response.text()).toBe(
      '{"picks":{"__proto__":"__proto__"},"cost":1,"value":2,"optimal":true,"upper_bound":2}',
    )
  })

  it('refuses numbers that are none of ours', async () => {
    for (const value of ['1e400', '-1', '"1"', 'null']) {
      const body = `{"classes":[{"id":"a","options":[{"id":"a","cost":1,"value":${value}}]}],"budget":1}`
      const response = await service.post('/v1/knapsack', body)
      expect([value, response.status]).toEqual([value, 400])
    }
  })

  it('says that required classes do not fit', async () => {
    const classes = [{ id: 'a', required: true, options: [{ id: 'a', cost: 3, value: 1 }] }]
    const response = await send({ classes, budget: 2 })
    expect(response.status).toBe(422)
    expect(await json(response)).toMatchObject({ code: 'budget_too_small', minimum_tokens: 3 })
  })

  it('is a job of a batch too, and answers in MessagePack', async () => {
    const job = { op: 'knapsack', classes: [{ id: 'a', options: [] }], budget: 2 }
    const batch = await json(
      service.post('/v1/batch', JSON.stringify({ jobs: [job, { ...job, budget: -1 }] })),
    )
    expect(batch).toMatchObject({
      results: [
        { ok: true, picks: { a: null }, cost: 0, value: 0, optimal: true },
        { ok: false, problem: { code: 'invalid_request' } },
      ],
    })
    const packed = await service.post(
      '/v1/knapsack',
      '{"classes":[{"id":"a","options":[]}],"budget":2}',
      {
        accept: 'application/msgpack',
      },
    )
    expect(packed.headers.get('content-type')).toBe('application/msgpack')
    expect((await packed.bytes()).length).toBeGreaterThan(10)
  })
})
