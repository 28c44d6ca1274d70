import { expect, it } from 'vitest'
import { probeCache } from '../../../../src/cli/doctor/ask-cache.ts'
import { CachingVendor } from '../../../support/caching/vendor.ts'

/** Asks a vendor whose clock stands still until it is waited for. */
async function probe(vendor: CachingVendor, isPingTaken = true) {
  let now = 0
  const bodies: object[] = []
  const findings = await probeCache({
    ...{ model: 'claude-sonnet-5', seed: 'a' },
    async ask(body) {
      bodies.push(body)
      const { max_tokens } = body as { readonly max_tokens: number }
      if (max_tokens === 0 && !isPingTaken) return { status: 400, body: {} }
      const answer = vendor.ask(body as Parameters<CachingVendor['ask']>[0], now)
      return { status: answer.status, body: answer }
    },
    until: async ms => {
      now = ms
    },
  })
  return { findings, bodies }
}

it('says what a vendor does that keeps its cache as we expect', async () => {
  const { findings, bodies } = await probe(new CachingVendor())
  expect(findings.map(({ state }) => state)).toEqual(['ok', 'ok', 'ok'])
  expect(bodies).toHaveLength(6)
})

it('says what a vendor does not do, and that a key is refused', async () => {
  const refusing = await probe(new CachingVendor(), false)
  expect(refusing.findings.map(({ state }) => state)).toEqual(['ok', 'warn', 'warn'])
  const vendor = new CachingVendor()
  const ask = vendor.ask.bind(vendor)
  vendor.ask = (body, at) => {
    if (at > 400_000) vendor.forget()
    return ask(body, at)
  }
  const forgetting = await probe(vendor)
  expect(forgetting.findings.map(({ state }) => state)).toEqual(['warn', 'ok', 'warn'])
  vendor.ask = () => ({ status: 400, message: 'no' })
  expect((await probe(vendor)).findings).toMatchObject([{ state: 'fail' }])
})
