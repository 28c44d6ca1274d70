import { expect, it } from 'vitest'
import { Backoff } from '../../../../src/mcp/upstream/backoff.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

it('doubles from 0.5 s to 30 s', () => {
  const backoff = new Backoff(createFakeClock())
  const waits = Array.from({ length: 9 }, () => backoff.next())
  expect(waits).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000])
})

it('leaves a fifth of a wait to chance', () => {
  const of = (random: number) => new Backoff({ ...createFakeClock(), random: () => random }).next()
  expect(of(0)).toBe(450)
  expect(of(0.5)).toBe(500)
  expect(of(0.9999)).toBeLessThan(550)
})

it('begins again after a connection that held, not after one that broke at once', () => {
  const clock = createFakeClock()
  const backoff = new Backoff(clock)
  backoff.next()
  backoff.connected()
  clock.advance(9_999)
  expect(backoff.next()).toBe(1000)
  backoff.connected()
  clock.advance(10_000)
  expect(backoff.next()).toBe(500)
  clock.advance(60_000)
  expect(backoff.next()).toBe(1000)
})
