import { describe, expect, it } from 'vitest'
import { savedPlaces } from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'

const BODY_BYTES = 100_000
const request = {
  body: new Uint8Array(BODY_BYTES),
  messages: [0, 1, 2].map(n => ({
    start: n * 40_000,
    end: Math.min(BODY_BYTES, (n + 1) * 40_000),
  })),
  opening: 1,
} as unknown as Parameters<typeof savedPlaces>[0]

function savingsOf(count: number) {
  return Array.from({ length: count }, (_, n) => {
    const end = Math.round(((n + 1) * BODY_BYTES) / count)
    return { end, shorter: 0, saved: { referred: 1, encoded: 2, elided: 3 } }
  })
}

describe('the places at which tokens were saved', () => {
  it('are each of its own, with their messages, as long as they are few', () => {
    const places = savedPlaces(request, savingsOf(4))
    expect(places).toEqual([
      { at: 0.25, tokens: 6, messages: 0 },
      { at: 0.5, tokens: 6, messages: 1 },
      { at: 0.75, tokens: 6, messages: 1 },
      { at: 1, tokens: 6, messages: 2 },
    ])
  })

  it('are joined at the last of neighbours, 64 at most, and none is lost', () => {
    for (const count of [64, 65, 128, 1_000]) {
      const places = savedPlaces(request, savingsOf(count))
      expect(places.length).toBeGreaterThan(31)
      expect(places.length).toBeLessThanOrEqual(64)
      expect(places.reduce((sum, { tokens }) => sum + tokens, 0)).toBe(6 * count)
      expect(places.at(-1)?.at).toBe(1)
      const each = Math.ceil(count / 64)
      expect(places[0]?.at).toBeCloseTo(each / count, 4)
    }
  })

  it('begin with what was added, as a loss', () => {
    const after = { ...request, messages: [{ start: BODY_BYTES / 2, end: BODY_BYTES }] }
    const [first, ...others] = savedPlaces(after, savingsOf(4), 205)
    expect(first).toEqual({ at: 0.5, tokens: -205, messages: 0 })
    expect(others).toHaveLength(4)
  })

  it('move forward by what was saved before them', () => {
    const half = { end: BODY_BYTES / 2, shorter: BODY_BYTES / 4 }
    const saved = { referred: 1, encoded: 0, elided: 0 }
    expect(savedPlaces(request, [{ ...half, saved }])).toEqual([
      { at: 1 / 3, tokens: 1, messages: 1 },
    ])
  })
})
