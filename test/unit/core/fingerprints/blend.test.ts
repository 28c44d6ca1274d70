import { describe, expect, it } from 'vitest'
import { blend } from '../../../../src/core/fingerprints/blend.ts'
import { BOUNDS, PARTS } from '../../../../src/core/fingerprints/histograms.ts'
import { row } from '../../fingerprints/rows.ts'

const of = (dup_rate: number, call_count = 100) => row({ dup_rate, call_count })
const team = (dup_rate: number, stale = false) => ({ ...of(dup_rate), stale })

describe('blending', () => {
  it('takes 70 % of the team and 30 % of oneself', () => {
    const blended = blend({ own: of(0), team: team(1) })
    expect(blended?.fingerprint.dup_rate).toBe(0.7)
    expect(blended?.weights).toMatchObject({ own: expect.closeTo(0.3), team: 0.7, provider: 0 })
  })

  it('takes less of a team that nobody has uploaded to lately', () => {
    expect(blend({ own: of(0), team: team(1, true) })?.fingerprint.dup_rate).toBe(0.3)
  })

  it('takes at most 40 % of a provider, and less the more one has called oneself', () => {
    const parts = [1, 19, 20, 100, 1_000, 1e6].map(
      calls => blend({ own: of(0, calls), team: team(0), provider: of(1) })?.weights.provider ?? 1,
    )
    expect(Math.max(...parts)).toBeLessThanOrEqual(0.4)
    expect(parts).toEqual([...parts].sort((a, b) => b - a))
    expect(blend({ team: team(0), provider: of(1) })?.fingerprint.dup_rate).toBe(0.4)
    expect(blend({ own: of(0, 20), provider: of(1) })?.fingerprint.dup_rate).toBe(0.2)
  })

  it('has no more than the provider’s part where nobody else knows the endpoint', () => {
    expect(blend({ provider: of(0.5) })).toMatchObject({
      fingerprint: { dup_rate: 0.5 },
      weights: { own: 0, team: 0, provider: 0.4 },
    })
  })

  it('is changed by no source with fewer than 20 calls', () => {
    const own = of(0.2)
    const alone = blend({ own })
    expect(alone?.fingerprint).toEqual(own)
    expect(blend({ own, team: { ...team(1), call_count: 19 }, provider: of(1, 19) })).toEqual(alone)
    expect(blend({ own: of(1, 19), team: team(0) })?.fingerprint.dup_rate).toBe(0)
    expect(blend({ own: of(1, 19) })).toBeNull()
    expect(blend({})).toBeNull()
  })

  it('weighs the histogram of repeats by how many results are repeats', () => {
    const all = (bucket: number) => BOUNDS.repeat_burst.map((_, at) => (at === bucket ? PARTS : 0))
    const own = { ...of(0.1), repeat_burst: all(0) }
    const blended = blend({ own, team: { ...team(0.5), repeat_burst: all(1) } })
    // 0.3 × 0.1 to 0.7 × 0.5.
    expect(blended?.fingerprint.repeat_burst?.slice(0, 2)).toEqual([789, 9_211])
  })

  it('weighs tables by the share of tables, and recomputes what follows from the shapes', () => {
    const own = row({ shape_mix: { prose: 1 }, avg_cols: null, avg_rows: null, format_entropy: 0 })
    const blended = blend({ own, team: { ...row({ avg_cols: 8 }), stale: false } })
    expect(blended?.fingerprint).toMatchObject({
      avg_cols: 8,
      shape_mix: { prose: 0.825, markdown_table: 0.175 },
      format_entropy: 0.669016,
    })
  })
})
