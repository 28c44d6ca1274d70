import { expect, it } from 'vitest'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { page } from '../../../../support/made-text.ts'
import { bodyOf, LIMITS, read, remembering } from './steps.ts'

it('a sub-agent’s results are told apart by telemetry, and written as any others', () => {
  const body = bodyOf([read('a', page(1)), read('a', page(1))])
  const written = (isSidechain?: true) => {
    const terms = { redeems: false, bypass: false, ...(isSidechain && { isSidechain }) }
    return rewriteRequest(body, 'anthropic_messages', LIMITS, {
      ...remembering(),
      telemetry: true,
      terms,
    })
  }
  const [own, other] = [written(), written(true)]
  expect(other.bytes).toEqual(own.bytes)
  const flags = (sent: typeof own) => sent.responses.map(({ row }) => row!().call.sidechain)
  expect(flags(own)).toEqual([false, false])
  expect(flags(other)).toEqual([true, true])
})
