import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EncodeAnswer } from '../../../src/core/contract/encode.ts'
import { startSmallService } from './harness.ts'

let service: Awaited<ReturnType<typeof startSmallService>>
beforeAll(async () => {
  service = await startSmallService({ workers: { count: 1 } })
})
afterAll(() => service.close())

const issues = Array.from({ length: 30 }, (_, i) => ({
  number: i,
  title: `Issue ${(i * 2_654_435_761) % 4_294_967_296}`,
  state: 'open',
  body: Array.from({ length: 30 }, (_, k) => (i * 7_919 + k * 104_729) % 9_973).join(' '),
}))
const content = JSON.stringify(issues, null, 1)
const asked = { mode: 'trim', budget_tokens: 330, formats: ['json_compact'] }

async function encode(fields: object): Promise<EncodeAnswer> {
  const response = await service.post('/v1/encode', JSON.stringify({ ...asked, ...fields }))
  expect(response.status).toBe(200)
  return (await response.json()) as EncodeAnswer
}

const numbersIn = ({ content: text }: EncodeAnswer) =>
  (JSON.parse(text) as { number?: number }[]).flatMap(({ number = null }) => number ?? [])

describe('the rest of a list', () => {
  it('comes chunk by chunk by the hash of the marker, as from the content sent again', async () => {
    const first = await encode({ content })
    const [{ hash: input_ref } = { hash: '' }] = first.elided
    expect(first.chunks!.length).toBeGreaterThan(2)
    const seen = numbersIn(first)
    for (const { chunk } of first.chunks!.slice(1)) {
      const kept = await encode({ input_ref, chunk })
      expect(kept).toEqual(await encode({ content, chunk }))
      seen.push(...numbersIn(kept))
    }
    expect(seen.toSorted((a, b) => a - b)).toEqual(issues.map(({ number }) => number))
    expect(numbersIn(await encode({ input_ref, offset: 4, limit: 1 }))).toEqual([4])
  })

  it('is refused where it is not there', async () => {
    const ask = async (fields: object) => {
      const response = await service.post('/v1/encode', JSON.stringify({ ...asked, ...fields }))
      return { status: response.status, problem: await response.json() }
    }
    expect(await ask({ content, chunk: 99 })).toMatchObject({
      status: 400,
      problem: { code: 'invalid_request', detail: expect.stringMatching(/there are \d+ chunks/) },
    })
    expect((await ask({ input_ref: '0'.repeat(24), chunk: 2 })).status).toBe(404)
    expect((await ask({ content, level: 'tiny' })).status).toBe(400)
  })
})
