import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../../../src/access/access.ts'
import { keyFor } from '../../../../support/keys.ts'
import {
  big,
  call,
  compress,
  keeping,
  result,
  rows,
  text,
  toolMessage,
  user,
} from './conversation.ts'

describe('POST /v1/compress within a token_budget', () => {
  const messages = [
    { role: 'user', content: 'Which are open?' },
    call('c1'),
    toolMessage(rows(60)),
    user(result(rows(3, 100)), result(rows(80, 200), { is_error: true })),
    call('c2'),
    toolMessage(rows(60, 300), 'c2'),
  ]
  const lossless = compress({ messages })

  it('leaves parts out of tool results that are no errors, with markers of what was kept', async () => {
    const whole = await lossless
    const { kept, originals } = keeping()
    const token_budget = whole.tokens_after - 500
    const answer = await compress({ messages, token_budget }, { originals })
    expect(answer.tokens_after).toBeLessThanOrEqual(token_budget)
    expect(answer.tokens_after).toBeGreaterThan(token_budget - 200)
    expect(answer.ccr_hashes).toEqual(
      [messages[2], messages[5]].map(m => hash('sha256', String(m?.content), 'hex').slice(0, 24)),
    )
    expect(kept).toEqual(answer.ccr_hashes)
    for (const [index, id] of [
      [2, 0],
      [5, 1],
    ] as const) {
      expect(answer.messages[index]?.['content']).toContain(`hash=${answer.ccr_hashes[id]}`)
    }
    for (const index of [0, 1, 3, 4]) expect(answer.messages[index]).toEqual(whole.messages[index])
    expect(answer.transforms_applied).toContain('trimmed@1')
  })

  it('goes as far as it can', async () => {
    const whole = await lossless
    const answer = await compress({ messages, token_budget: 0 }, { originals: keeping().originals })
    expect(answer.tokens_after).toBeLessThan(whole.tokens_after)
    const errorOf = ({ messages: all }: typeof answer) => JSON.stringify(all[3]).split('t1')[2]
    expect(errorOf(answer)).toEqual(errorOf(whole))
  })

  it.each<[string, object]>([
    ['a tool message', { ...toolMessage(big), is_error: true }],
    ['a block', user(result([text(big)], { is_error: true }))],
    ['a block in a message', { ...toolMessage([result(big)]), is_error: true }],
  ])('leaves errors whole: %s', async (_, message) => {
    const request = { messages: [message] }
    expect(await compress({ ...request, token_budget: 0 }, keeping())).toEqual(
      await compress(request),
    )
  })

  it('loses nothing for a key that does not redeem, or where the store keeps nothing', async () => {
    const plain = keyFor('acme')
    const access = createAccess([plain.record], () => 0)
    const { kept, originals } = keeping()
    const body = { messages, token_budget: 100 }
    expect(await compress(body, { access, originals }, plain.headers)).toEqual(await lossless)
    expect(kept).toEqual([])
    expect(await compress(body)).toEqual(await lossless)
    const retrieving = keyFor('acme', { redeems: true })
    const other = createAccess([retrieving.record], () => 0)
    const answer = await compress(body, { access: other, originals }, retrieving.headers)
    expect(answer.ccr_hashes.length).toBeGreaterThan(0)
  })
})
