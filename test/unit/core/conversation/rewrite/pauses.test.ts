import { expect, it } from 'vitest'
import { isCold } from '../../../../../src/core/conversation/rewrite/pauses.ts'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'

const MINUTE_MS = 60_000
/** The provider keeps what is not used for five minutes. */
const LIVES = { redeems: false, bypass: false, cacheLives: [{ seconds: 300 }] }
const KEYS = ['1'.padStart(64, '0'), '2'.padStart(64, '0')]

/** Whether a turn is cold that comes so long after another one, by the life that we ask for. */
function isColdAfter(pauseMs: number, lifeMs: number | undefined, body = '{}'): boolean {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  let at = 0
  const rewrites = { tenant: '', memory, recalled: {}, now: () => at }
  const context = { ...localContext(), rewrites, terms: LIVES }
  const turn = (modelTurns: number) => {
    const scanned = { body: Buffer.from(body), model: undefined, modelTurns }
    return isCold({ scanned, keys: KEYS.slice(0, modelTurns), lifeMs }, context)
  }
  expect(turn(1)).toBe(false)
  at = pauseMs
  return turn(2)
}

it.each([
  ['the usual life', 4, undefined, '{}', false],
  ['the usual life', 6, undefined, '{}', true],
  ['the hour that we ask for', 59, 60, '{}', false],
  ['the hour that we ask for', 61, 60, '{}', true],
  ['the hour that its client asks for', 59, undefined, '{"ttl":"1h"}', false],
  ['the hour that its client asks for', 61, undefined, '{"ttl":"1h"}', true],
])('a conversation is cold after %s: %d minutes', (_, minutes, life, body, cold) => {
  const lifeMs = life === undefined ? undefined : life * MINUTE_MS
  expect(isColdAfter(minutes * MINUTE_MS, lifeMs, body)).toBe(cold)
})
