import { describe, expect, onTestFinished, test } from 'vitest'
import type { RedisServer } from '../../../../src/store/redis/server.ts'
import { RedisJournal } from '../../../../src/store/redis/session-journal.ts'
import type { Result } from '../../../../src/store/store.ts'
import { createCodec } from '../../../../src/store/values/codec.ts'
import { fail } from '../../../../src/store/values/failure.ts'

const AWAY = fail('unavailable', 'away')
const FULL = fail('full', 'full')
const OPENED = ['ok', 7, 0, 1, '0', 0, 0, 0, 0, 0, 1]
const asked = { tenant: 'a', session: 's', calls: ['ab'], has: null, ttlMs: 1_000 }

/** A journal on a server that answers as it is told, and the functions that it was asked for. */
function journalOn(
  answers: Readonly<Record<string, Result<{ readonly reply: unknown }>[]>>,
  leaseMs = () => 1_000,
) {
  const calls: string[] = []
  const contact = {
    sinceMs: 0,
    silentMs: 250,
    isOwing: false,
    get leaseMs() {
      return leaseMs()
    },
  }
  const server = {
    contact,
    isSharded: false,
    generation: 'g',
    async call(name: string) {
      calls.push(name)
      return answers[name]?.shift() ?? AWAY
    },
  } as unknown as RedisServer
  const journal = new RedisJournal({
    server,
    codec: createCodec({ keys: [], compressFromBytes: null }),
    time: () => '',
    rootOf: tenant => `p:{${tenant}}:`,
    register: async () => undefined,
    tenantMaxBytes: 1e6,
    tombstoneMs: 1,
    retryMs: 1,
    openBytes: 0,
  })
  onTestFinished(() => journal.close())
  return { journal, calls, contact }
}

const told = { ok: true, reply: 0 } as const

describe('a turn that the server did not count', () => {
  test('is tried again once that is told, and told again if it fails again', async () => {
    const { journal, calls } = journalOn({
      open_session: [AWAY, AWAY, { ok: true, reply: OPENED }],
      renew_session: [told, AWAY, told],
    })
    expect(await journal.open(asked)).toMatchObject({ ok: true, epoch: 7, sequences: [1] })
    expect(calls.join(' ')).toBe(
      'open_session renew_session open_session renew_session renew_session open_session',
    )
  })

  test('is answered apart only when it is told, however often the server fails', async () => {
    const { journal, calls, contact } = journalOn({ renew_session: Array(9).fill(told) })
    expect(await journal.open(asked)).toMatchObject({ ok: false, reason: 'unavailable' })
    expect(calls.at(-1)).toBe('renew_session')
    expect(calls.length).toBeLessThan(12)
    expect(contact.isOwing).toBe(false)
  })

  test('is told also if the server refuses it', async () => {
    const { journal, calls } = journalOn({ open_session: [FULL], renew_session: [AWAY, told] })
    expect(await journal.open(asked)).toBe(FULL)
    expect(calls).toEqual(['open_session', 'renew_session', 'renew_session'])
  })

  test('is answered untold once others do not hear from this process', async () => {
    let looks = 0
    const { journal, contact } = journalOn({}, () => (++looks > 3 ? 0 : 5))
    expect(await journal.open(asked)).toMatchObject({ ok: false })
    // Until it is told, this process does not say that it is there.
    expect(contact.isOwing).toBe(true)
    expect(looks).toBeGreaterThan(3)
  })
})
