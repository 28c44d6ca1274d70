import { describe, expect, it } from 'vitest'
import { createAccess } from '../../../src/access/access.ts'
import { createPasses } from '../../../src/access/passes.ts'
import { ownEndedPasses } from '../../support/ended-passes.ts'
import { keyFor } from '../../support/keys.ts'

const LIFE_MS = 1_000
const secret = Buffer.alloc(32, 1)
const ended = ownEndedPasses()

function setUp() {
  const clock = { now: 5_000 }
  const key = keyFor('team', { scopes: ['ui'] })
  const access = createAccess([key.record], () => 0)
  const passes = createPasses(access, { secret, ended, lifeMs: LIFE_MS, now: () => clock.now })
  const pass = passes.issue(access.identify(() => key.key))
  return { clock, key, access, passes, pass }
}

describe('a pass', () => {
  it('is its key: the same caller', () => {
    const { passes, pass, key } = setUp()
    expect(passes.callerOf(pass)).toMatchObject({ tenant: 'team', keyId: key.record.id })
    expect(pass).not.toContain(key.key)
    expect(pass).not.toContain(key.record.sha256)
  })

  it('ends after its time, also if the clock went back before that', () => {
    const { clock, passes, pass } = setUp()
    clock.now += LIFE_MS - 1
    expect(passes.callerOf(pass)).not.toBeNull()
    clock.now += 1
    expect(passes.callerOf(pass)).toBeNull()
    clock.now = 0
    expect(passes.callerOf(pass)).toBeNull()
  })

  it('ends with its key, and with another key of the same id', () => {
    const { access, passes, pass, key } = setUp()
    access.replace([{ ...key.record, sha256: 'a'.repeat(64) }])
    expect(passes.callerOf(pass)).toBeNull()
    access.replace([])
    expect(passes.callerOf(pass)).toBeNull()
    access.replace([key.record])
    expect(passes.callerOf(pass)).not.toBeNull()
  })

  it('is taken by another process with the same secret', () => {
    const { access, pass } = setUp()
    const other = createPasses(access, { secret, ended, lifeMs: LIFE_MS, now: () => 5_000 })
    expect(other.callerOf(pass)).not.toBeNull()
  })

  it('ends when it is given back, and no other with it', () => {
    const { access, passes, pass, key, clock } = setUp()
    clock.now += 1
    const later = passes.issue(access.identify(() => key.key))
    passes.end('no pass')
    passes.end(pass)
    expect(passes.callerOf(pass)).toBeNull()
    expect(passes.callerOf(later)).not.toBeNull()
  })

  it('cannot be made or changed by its holder', () => {
    const { access, passes, pass } = setUp()
    const other = createPasses(access, {
      secret: Buffer.alloc(32, 2),
      ended,
      lifeMs: LIFE_MS,
      now: () => 5_000,
    })
    expect(other.callerOf(pass)).toBeNull()
    for (let at = 0; at < pass.length; at++) {
      const changed = pass[at] === '7' ? '8' : '7'
      expect(passes.callerOf(pass.slice(0, at) + changed + pass.slice(at + 1))).toBeNull()
    }
    // The last letter has two bits that the bytes of a signature do not need.
    const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const others = [...letters].filter(letter => letter !== pass.at(-1))
    for (const last of others) expect(passes.callerOf(pass.slice(0, -1) + last)).toBeNull()
    for (const bad of ['', '.', 'a.b.c', `${pass}.`, pass.slice(1), '9'.repeat(5_000)]) {
      expect(passes.callerOf(bad)).toBeNull()
    }
  })
})
