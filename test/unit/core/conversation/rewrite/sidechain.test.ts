import { expect, it } from 'vitest'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { createPseudonyms } from '../../../../../src/core/telemetry/pseudonyms.ts'
import { bodyOf, LIMITS, page, read, remembering } from './steps.ts'

it('a sub-agent’s results are told apart by telemetry, and written as any others', () => {
  const body = bodyOf([read('a', page(1)), read('a', page(1))])
  const telemetry = createPseudonyms(new Uint8Array(32), 't')
  const written = (isSidechain?: true) => {
    const terms = { redeems: false, bypass: false, ...(isSidechain && { isSidechain }) }
    return rewriteRequest(body, 'anthropic_messages', LIMITS, {
      ...remembering(),
      telemetry,
      terms,
    })
  }
  const [own, other] = [written(), written(true)]
  expect(other.bytes).toEqual(own.bytes)
  const flags = (sent: typeof own) =>
    sent.responses.map(({ response }) => JSON.parse(response!()).is_sidechain)
  expect(flags(own)).toEqual([false, false])
  expect(flags(other)).toEqual([true, true])
})
