import { describe, expect, it } from 'vitest'
import { byNameAndTime, keptSpans, mostOf } from '../../../../src/core/fingerprints/collect.ts'
import { DAY, NOW, row } from '../../fingerprints/rows.ts'

/** A span of one day, so many days ago. */
const span = (endpoint_class: string, ago: number) =>
  row({ endpoint_class, first_seen_ms: NOW - ago * DAY, last_seen_ms: NOW - ago * DAY })

describe('closed spans that are kept', () => {
  it('are those in the window, and the last of each endpoint', () => {
    const [old, last, oldOfCurl, ofCurl] = [
      span('git_log', 90),
      span('git_log', 60),
      span('curl', 31),
      span('curl', 30),
    ]
    expect(keptSpans([last, old, ofCurl, oldOfCurl], NOW, 9)).toEqual([last, ofCurl])
    expect(keptSpans([old, last, oldOfCurl, ofCurl], NOW - 40 * DAY, 9)).toHaveLength(3)
  })

  it('are the latest where there are too many', () => {
    const spans = [span('a', 400), span('b', 2), span('c', 60), span('d', 1)]
    expect(keptSpans(spans, NOW, 2).toSorted(byNameAndTime)).toEqual([spans[1], spans[3]])
  })
})

describe('the most of rows', () => {
  it('are all where there is room, else those with the most', () => {
    const rows = [3, 9, 7].map(calls => row({ endpoint_class: `e${calls}`, call_count: calls }))
    expect(mostOf(rows, 3, each => each.call_count)).toEqual(rows)
    expect(mostOf(rows, 2, each => each.call_count)).toEqual([rows[1], rows[2]])
    expect(mostOf(rows, 0, each => each.call_count)).toEqual([])
  })
})
