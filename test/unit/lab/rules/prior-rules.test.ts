import { describe, expect, it } from 'vitest'
import type { Fingerprint } from '../../../../src/core/fingerprints/fingerprint.ts'
import { BOUNDS, PARTS } from '../../../../src/core/fingerprints/histograms.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import type { ClassStats, Stats } from '../../../../src/lab/rules/class-stats.ts'
import { proposeByPriors } from '../../../../src/lab/rules/prior-rules.ts'
import { row } from '../../fingerprints/rows.ts'

/** Own results of classes. */
function own(results: Readonly<Record<string, number>>): Stats {
  const sum = Object.values(results).reduce((all, each) => all + each, 0)
  const classes = Object.entries(results).map(
    ([name, count]) => [name, { results: count }] as const,
  )
  return {
    classes: new Map(classes as unknown as readonly (readonly [string, ClassStats])[]),
    sessions: { results: sum } as Stats['sessions'],
  }
}

/** All in the bucket of one value. */
function all(name: keyof typeof BOUNDS, value: number): number[] {
  const at = BOUNDS[name].findIndex(bound => value <= bound)
  return BOUNDS[name].map((_, bucket) => (bucket === at ? PARTS : 0))
}

function proposals(
  fingerprints: readonly Partial<Fingerprint>[],
  { config = {}, results = {}, fetched = 1 } = {},
) {
  const rows = fingerprints.map(each => row({ endpoint_class: 'Read', dup_rate: 0, ...each }))
  const found = proposeByPriors({
    config: pipelineSchema.parse(config),
    priors: new Map(rows.map(each => [each.endpoint_class, each])),
    ...{ all: own(results), fetched },
  })
  expect(found.every(({ isPrior }) => isPrior === true)).toBe(true)
  return found.map(({ rule, key, to }) => [rule, key.join('.'), to])
}

const OFF = ['R6', 'endpoint_overrides.Read.elision_enabled', false]
const needed = { call_count: 100, elided: 0.5, needed: 0.15 }

describe('R6 by figures of others', () => {
  it('switches elision of a class off if three in ten are fetched or quoted later', () => {
    expect(proposals([needed])).toEqual([OFF])
    expect(proposals([{ ...needed, needed: 0.01, retrieved: 0.2 }])).toEqual([OFF])
    expect(proposals([{ ...needed, needed: 0.14 }])).toEqual([])
    expect(proposals([{ ...needed, needed: undefined }])).toEqual([])
  })

  it('wants twice as many if half of a text is fetched', () => {
    expect(proposals([needed], { fetched: 0.5 })).toEqual([])
    expect(proposals([{ ...needed, needed: 0.3 }], { fetched: 0.5 })).toEqual([OFF])
  })

  it('changes nothing by few elided results, by own ones, or what is off', () => {
    expect(proposals([{ ...needed, call_count: 38 }])).toEqual([])
    expect(proposals([needed], { results: { Read: 20 } })).toEqual([])
    expect(proposals([needed], { results: { Read: 19, Grep: 99 } })).toEqual([OFF])
    const config = { endpoint_overrides: { Read: { elision_enabled: false } } }
    expect(proposals([needed], { config })).toEqual([])
  })

  it('is never a reason to leave anything out', () => {
    const config = { elision: { enabled: false } }
    expect(proposals([{ ...needed, needed: 0 }], { config })).toEqual([])
  })
})

describe('R1, R4 and R5 by figures of others', () => {
  it('switches references on, with the memory that repeats need, of 10 at most', () => {
    const config = { dedup: { enabled_per_endpoint: { Read: false }, lru_size: 2 } }
    const often = { dup_rate: 0.3, repeat_burst: all('repeat_burst', 4) }
    expect(proposals([often], { config })).toEqual([
      ['R1', 'dedup.enabled_per_endpoint.Read', true],
      ['R1', 'endpoint_overrides.Read.lru_size', 5],
    ])
    expect(proposals([{ ...often, dup_rate: 0.29 }], { config })).toEqual([])
    const most = { ...often, repeat_burst: all('repeat_burst', 1e9) }
    expect(proposals([most], { config })[1]).toEqual(['R1', 'endpoint_overrides.Read.lru_size', 10])
    expect(proposals([most])).toEqual([])
  })

  it('sets levels and the shortest remembered result by all classes together', () => {
    const rows = [
      { response_chars: all('response_chars', 128), depth: all('depth', 2), call_count: 100 },
      { endpoint_class: 'Grep', response_chars: all('response_chars', 9e9), call_count: 100 },
    ]
    const config = { mckp: { recursion_depth: 4 } }
    const set = [
      ['R4', 'mckp.recursion_depth', 3],
      ['R5', 'dedup.min_body_chars', 128],
    ]
    expect(proposals(rows, { config })).toEqual(set)
    expect(proposals(rows, { config, results: { Read: 20 } })).toEqual([])
  })
})

describe('figures that lie', () => {
  it('cannot go beyond what the rules allow', () => {
    const lie = {
      ...{ call_count: 1e11, source_sessions: 1e11, dup_rate: 1 },
      ...{ elided: 1, needed: 1, retrieved: 1 },
      repeat_burst: all('repeat_burst', 1e12),
      response_chars: all('response_chars', 1e12),
      depth: all('depth', 1e12),
    }
    expect(proposals([lie, { ...lie, endpoint_class: '__proto__' }])).toEqual([
      OFF,
      ['R6', 'endpoint_overrides.__proto__.elision_enabled', false],
      ['R4', 'mckp.recursion_depth', 5],
      ['R5', 'dedup.min_body_chars', 500],
    ])
  })
})
