import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Result, Store } from '../../../src/store/store.ts'
import { bytesOf, MINUTE, START, text } from '../../unit/store/inline-store.ts'
import { runs } from '../runs.ts'

import type { OpenStore } from './open-store.ts'

/** What a plain map makes of the same calls. */
interface Entry {
  readonly body: string
  expires: number
  alone: boolean
  readonly sessions: Set<string>
}

class Model {
  now = START
  readonly entries = new Map<string, Entry>()
  /** Keys of what ended by itself; purged ones leave nothing. */
  readonly dead = new Set<string>()

  live(key: string): Entry | undefined {
    const entry = this.entries.get(key)
    return entry !== undefined && entry.expires > this.now ? entry : undefined
  }

  put(tenant: string, body: string, session: string | null, ttlMs: number, pin: number): number {
    const key = `${tenant}/${hash('sha256', body)}`
    const expires = Math.max(this.now + ttlMs, pin > this.now ? pin : 0)
    const old = this.live(key)
    const entry = old ?? { body, expires, alone: false, sessions: new Set() }
    entry.expires = Math.max(entry.expires, expires)
    if (session === null) entry.alone = true
    else entry.sessions.add(session)
    this.entries.set(key, entry)
    this.dead.delete(key)
    return entry.expires
  }

  touch(key: string, ttlMs: number, pin: number): number | undefined {
    const entry = this.live(key)
    if (entry === undefined) return undefined
    entry.expires = Math.max(entry.expires, this.now + ttlMs, pin > this.now ? pin : 0)
    return entry.expires
  }

  reason(key: string): string {
    return this.entries.has(key) || this.dead.has(key) ? 'gone' : 'not_found'
  }

  prune(): void {
    for (const [key, { expires }] of this.entries) {
      if (expires > this.now) continue
      this.entries.delete(key)
      this.dead.add(key)
    }
  }

  purgeSession(tenant: string, session: string): void {
    for (const [key, entry] of this.entries) {
      if (!key.startsWith(`${tenant}/`) || !entry.sessions.delete(session)) continue
      if (entry.sessions.size === 0 && !entry.alone) {
        // Whether an expired one was swept before the purge came is nobody's business.
        this.entries.delete(key)
        if (entry.expires <= this.now) this.dead.add(key)
      }
    }
  }

  purgeTenant(tenant: string): void {
    for (const key of [...this.entries.keys(), ...this.dead]) {
      if (!key.startsWith(`${tenant}/`)) continue
      this.entries.delete(key)
      this.dead.delete(key)
    }
  }
}

const tenant = fc.constantFrom('a', 'b', '')
const body = fc.constantFrom('', 'one', 'two', 'three', 'x'.repeat(70_000))
const session = fc.option(fc.constantFrom('s', 't'))
const ttlMs = fc.integer({ min: 0, max: 60 }).map(n => n * MINUTE)
const pin = fc.integer({ min: 0, max: 90 }).map(n => START + n * MINUTE)

const command = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('put'), tenant, body, session, ttlMs, pin }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('get'), tenant, body }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('touch'), tenant, body, ttlMs, pin }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('wait'), minutes: fc.integer({ min: -9, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('prune') }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purgeSession'), tenant, session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('purgeTenant'), tenant }) },
)
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never

/** Does the same to both and compares what they say. */
async function step(store: Store, model: Model, clock: { now: number }, c: Command): Promise<void> {
  const ref = 'body' in c ? hash('sha256', c.body as string) : ''
  const key = 'tenant' in c ? `${c.tenant}/${ref}` : ''
  const reasonOf = (result: Result<object> | undefined) =>
    result?.ok === false ? result.reason : 'ok'
  if ('minutes' in c) {
    // What has run out may be swept at any time, and then a clock that goes back does not bring it
    // back.
    await store.prune()
    model.prune()
    model.now += c.minutes * MINUTE
    clock.now = model.now
  } else if ('ttlMs' in c && 'session' in c) {
    const item = {
      tenant: c.tenant,
      body: bytesOf(c.body),
      mediaType: 'text/plain',
      ttlMs: c.ttlMs,
      pinUntil: c.pin,
      ...(c.session === null ? {} : { session: c.session }),
    }
    const created = model.live(key) === undefined
    const expires_at = model.put(c.tenant, c.body, c.session, c.ttlMs, c.pin)
    expect((await store.put([item]))[0]).toEqual({
      ok: true,
      hash: ref,
      bytes: c.body.length,
      expires_at,
      created,
    })
  } else if ('ttlMs' in c) {
    const item = { tenant: c.tenant, ref: ref.slice(0, 24), ttlMs: c.ttlMs, pinUntil: c.pin }
    const expires_at = model.touch(key, c.ttlMs, c.pin)
    const [result] = await store.touch([item])
    if (expires_at === undefined) expect(reasonOf(result)).toBe(model.reason(key))
    else expect(result).toMatchObject({ ok: true, expires_at })
  } else if ('body' in c) {
    const entry = model.live(key)
    const result = await store.get({ tenant: c.tenant, ref: ref.slice(0, 12) })
    expect(result.ok ? text(result.body) : result.reason).toBe(entry?.body ?? model.reason(key))
  } else if ('session' in c) {
    await store.purgeSession(c.tenant, c.session ?? 'u')
    model.purgeSession(c.tenant, c.session ?? 'u')
  } else if ('tenant' in c) {
    await store.purgeTenant(c.tenant)
    model.purgeTenant(c.tenant)
  } else {
    await store.prune()
    model.prune()
  }
}

/** Any calls in any order, on the store and on a plain map. */
export function modelCases(open: OpenStore, most: number): void {
  test('the store does what a plain map does, whatever the order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 5, maxLength: 40 }), async commands => {
        const { store, clock } = await open({ tombstoneMs: 1e12 })
        const model = new Model()
        for (const c of commands) await step(store, model, clock, c)
        // At the end: every entry, in its sessions too, and the totals.
        for (const [key, entry] of model.entries) {
          const [owner, ref] = key.split('/') as [string, string]
          if (model.live(key) === undefined) continue
          for (const name of entry.sessions) {
            const result = await store.get({ tenant: owner, ref: ref.slice(0, 8), session: name })
            expect(result.ok && text(result.body)).toBe(entry.body)
          }
        }
        await store.prune()
        model.prune()
        const stats = await store.stats()
        expect(stats).toMatchObject({ ok: true, bodies: model.entries.size })
        await store.close()
      }),
      { numRuns: runs(most) },
    )
  })
}
