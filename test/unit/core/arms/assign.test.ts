import { describe, expect, test } from 'vitest'
import { drawUnit, quarterOf, staysWhole, unitKey } from '../../../../src/core/arms/assign.ts'

const terms = { secret: new Uint8Array(32).fill(7), quarter: 8103, holdout: 0.05, explore: 0.1 }
const units = Array.from({ length: 10_000 }, (_, n) => unitKey(terms, `session ${n}`))

describe('an arm', () => {
  test('is drawn with the share', () => {
    const heldOut = units.filter(key => drawUnit(terms, key).isHeldOut).length
    expect(heldOut / units.length).toBeCloseTo(terms.holdout, 2)
    const whole = units.filter(key => staysWhole(terms, terms.quarter, key)).length
    expect(whole / units.length).toBeCloseTo(terms.explore, 2)
  })

  test.each([0, 1])('is the same for all with a share of %d', share => {
    const all = { ...terms, holdout: share, explore: share }
    for (const key of units.slice(0, 500)) {
      expect(drawUnit(all, key).isHeldOut).toBe(share === 1)
      expect(staysWhole(all, 1, key)).toBe(share === 1)
    }
  })

  test('cannot be foreseen from the arm of another tenant or another quarter', () => {
    const other = { ...terms, secret: new Uint8Array(32).fill(8) }
    expect(unitKey(other, 'session 1')).not.toBe(unitKey(terms, 'session 1'))
    const heldOut = units.filter(key => drawUnit(terms, key).isHeldOut)
    const next = { ...terms, quarter: terms.quarter + 1 }
    const again = heldOut.filter(key => drawUnit(next, key).isHeldOut)
    expect(again.length / heldOut.length).toBeLessThan(0.15)
  })

  test('has the salt of the quarter', () => {
    const at = (text: string) => quarterOf(Date.parse(text))
    expect(at('2026-03-31T23:59:59Z')).toBe(at('2026-01-01T00:00:00Z'))
    expect(at('2026-04-01T00:00:00Z')).toBe(at('2026-03-31T23:59:59Z') + 1)
    expect(at('2027-01-01T00:00:00Z')).toBe(at('2026-12-31T00:00:00Z') + 1)
  })
})
