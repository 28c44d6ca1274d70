import { describe, expect, it } from 'vitest'
import { admitRows, withdrawRows } from '../../../../src/core/fingerprints/admit-rows.ts'
import type { Fingerprint } from '../../../../src/core/fingerprints/fingerprint.ts'
import { BOUNDS } from '../../../../src/core/fingerprints/histograms.ts'
import { readLines, writeLines } from '../../../../src/core/fingerprints/lines.ts'
import { mergeUploads } from '../../../../src/core/fingerprints/merge-uploads.ts'
import {
  readRecord,
  type UploadRecord,
  writeRecord,
} from '../../../../src/core/fingerprints/upload-record.ts'
import { DAY, NOW, row } from '../../fingerprints/rows.ts'

const terms = { member: 'ada', windowDays: 30, now: NOW }

function admit(rows: readonly Fingerprint[], earlier: UploadRecord | null = null, now = NOW) {
  return admitRows(rows, earlier, { ...terms, now })
}

function published({ rows }: UploadRecord): Fingerprint[] {
  return rows.map(each => each.row)
}

/** Ten days with so many sessions, the last `shift` days ago. */
function span(source_sessions: number, days = 10, shift = 1): Fingerprint {
  return row({
    source_sessions,
    call_count: 100 + source_sessions,
    first_seen_ms: NOW - (shift + days) * DAY,
    last_seen_ms: NOW - shift * DAY,
  })
}

const depth = BOUNDS.depth.map((_, bucket) => (bucket < 2 ? 5_000 : 0))
const rates = { elided: 0.5, retrieved: 0.25, needed: 0.125 }

describe('histograms and rates of an upload', () => {
  it('are published, kept, and read by a version that has none', () => {
    const { record } = admit([row({ depth, ...rates }), row({ endpoint_class: 'curl' })])
    const bytes = writeRecord(record)
    const [first, second] = published(readRecord(bytes)!)
    expect(first).toMatchObject({ depth, elided: expect.closeTo(0.5, 4) })
    expect(second).toEqual(row({ endpoint_class: 'curl' }))
    // A row that is uploaded once more as it was stays.
    expect(
      admit([row({ depth, ...rates }), row({ endpoint_class: 'curl' })], record),
    ).toMatchObject({ accepted: 2, refused: [] })
    expect(admit([row({ depth: depth.toReversed() })], record).refused).toHaveLength(1)
  })

  it('are not told if a bucket or a rate is of fewer than five responses', () => {
    const few = BOUNDS.depth.map((_, bucket) => [9_400, 600][bucket] ?? 0)
    const { record } = admit([row({ depth: few, elided: 0.07, needed: 0.5 })])
    const [told] = published(record)
    expect([told!.depth, told!.elided]).toEqual([undefined, undefined])
    expect(told!.needed).toBeCloseTo(0.5, 4)
  })

  it('are not told of a row that contains an earlier one', () => {
    const { record } = admit([{ ...span(20), depth, ...rates }])
    const wider = { ...span(40, 20), last_seen_ms: NOW, depth, ...rates }
    const [told] = published(admit([wider], record, NOW).record)
    expect([told!.source_sessions, told!.depth, told!.elided]).toEqual([40, undefined, undefined])
  })

  it('are weighed by sessions in a merge', () => {
    const [ada, bob] = [
      admit([row({ source_sessions: 30, elided: 0.9, depth })]),
      admit([row({ source_sessions: 10, elided: 0.1, depth: depth.toReversed() })]),
    ]
    const other = admit([row({ source_sessions: 50 })])
    const uploads = [ada, bob, other].map(({ record }) => record.rows)
    const [merged] = mergeUploads(uploads, NOW).fingerprints
    expect(merged!.elided).toBeCloseTo(0.7, 4)
    expect(merged!.depth!.slice(0, 2)).toEqual([3_750, 3_750])
    expect(merged!.needed).toBeUndefined()
  })
})

describe('what is published of an upload', () => {
  it('is every row with enough sessions, as it came', () => {
    const rows = [row(), row({ endpoint_class: 'curl', source_sessions: 5 })]
    const { record, accepted, refused } = admit(rows)
    expect([accepted, refused]).toEqual([2, []])
    expect(published(record)).toEqual(rows)
  })

  it('refuses rows below five sessions one by one, and lists them', () => {
    const few = row({ endpoint_class: 'curl', source_sessions: 4 })
    const { record, accepted, refused } = admit([few, row()])
    expect(accepted).toBe(1)
    expect(refused).toEqual([
      { endpoint_class: 'curl', first_seen_ms: few.first_seen_ms, reason: 'below_k' },
    ])
    expect(published(record)).toEqual([row()])
  })

  it.each([
    ['before the window', { first_seen_ms: NOW - 40 * DAY }],
    ['in the future', { last_seen_ms: NOW + DAY }],
  ])('refuses what is %s', (_, time) => {
    expect(admit([row(time)]).refused).toMatchObject([{ reason: 'outside_window' }])
  })

  it('takes a clock that is ahead by minutes', () => {
    expect(admit([row({ last_seen_ms: NOW + 600_000 })]).accepted).toBe(1)
  })

  it('refuses a row that shares a day with another one of its endpoint', () => {
    const touching = row({ first_seen_ms: row().last_seen_ms + 1, last_seen_ms: NOW })
    expect(admit([row(), touching]).refused).toMatchObject([{ reason: 'overlaps_row' }])
    const behind = row({ first_seen_ms: row().last_seen_ms + DAY, last_seen_ms: NOW })
    expect(admit([row(), behind]).refused).toEqual([])
  })

  it('has no means of so few responses that they are of fewer than five sessions', () => {
    const parts = { prose: 0.8, markdown_table: 0.1, array_of_objects: 0.1 }
    const few = { shape_mix: parts, avg_cols: 3, avg_rows: 7, key_stability_mean: 0.5 }
    const [none, some] = [40, 50].map(call_count => {
      return published(admit([row({ ...few, call_count })]).record)
    })
    expect(none).toMatchObject([{ avg_cols: null, avg_rows: null, key_stability_mean: null }])
    expect(some).toMatchObject([{ avg_cols: 3, avg_rows: 7, key_stability_mean: 0.5 }])
  })
})

describe('a repeated upload', () => {
  const first = admit([span(10)]).record

  it('may be the same again', () => {
    const { record, refused } = admit([span(10)], first, NOW + DAY)
    expect([published(record), refused]).toEqual([[span(10)], []])
  })

  it.each([
    ['one session more in the same time', span(11)],
    ['one session more in more time', span(11, 11, 0)],
    ['four sessions more', span(14, 11, 0)],
    ['fewer sessions', span(8)],
    ['a window that has moved on', span(30, 10, 0)],
    ['a part of the time', span(10, 5, 2)],
    ['other figures', { ...span(10), avg_response_chars: 901 }],
    [
      'a beginning that moved by a moment',
      { ...span(30, 11, 0), first_seen_ms: NOW - 11 * DAY + 1 },
    ],
    ['an end that moved by a moment', { ...span(30), last_seen_ms: NOW - DAY + 1 }],
  ])('with %s changes nothing', (_, next) => {
    const { record, accepted, refused } = admit([next], first)
    expect([accepted, refused[0]?.reason]).toEqual([0, 'overlaps_published'])
    expect(published(record)).toEqual([span(10)])
  })

  it('with five sessions more, and all of the time before, takes the place of the first', () => {
    const { record, refused } = admit([span(15, 11, 0)], first)
    expect([published(record), refused]).toEqual([[span(15, 11, 0)], []])
  })

  it('counts five sessions from the last one of the same time', () => {
    const more = admit([span(15)], first).record
    expect(published(more)).toEqual([span(15)])
    expect(admit([span(16)], more).accepted).toBe(0)
    expect(admit([span(19, 11, 0)], more).accepted).toBe(0)
    expect(admit([span(20, 11, 0)], more).accepted).toBe(1)
  })

  it('tells nobody who asks in the member’s name more of its times than the day', () => {
    const begin = NOW - 11 * DAY
    const moments = { first_seen_ms: begin + 5_000_000, last_seen_ms: NOW - DAY + 70_000_000 }
    const { record } = admit([row(moments)])
    const answers = (from: number) =>
      Array.from({ length: 24 }, (_, hour) => {
        const at = from + hour * 3_600_000
        const probes = [
          { first_seen_ms: at, last_seen_ms: at },
          { first_seen_ms: at, last_seen_ms: NOW },
          { first_seen_ms: begin - DAY, last_seen_ms: at },
        ]
        const many = { source_sessions: 1e6, call_count: 1e6 }
        return probes.map(probe => admit([row({ ...probe, ...many })], record).accepted).join('')
      })
    for (const day of [-2, -1, 0, 1, 9, 10]) {
      expect(new Set(answers(begin + day * DAY)).size, `day ${day}`).toBe(1)
    }
  })

  it('leaves what is published as old as it is where it is held back', () => {
    const slid = admit([span(30, 10, 0)], first, NOW + 13 * DAY)
    expect(slid.accepted).toBe(0)
    expect(published(slid.record)).toEqual([span(10)])
    for (const days of [13, 14]) {
      const { fingerprints } = mergeUploads([slid.record.rows], NOW + days * DAY)
      expect(fingerprints).toMatchObject([{ stale: days === 14 }])
    }
    const touching = row({ first_seen_ms: NOW - DAY, last_seen_ms: NOW + 9 * DAY })
    const later = (days: number) => admit([touching], slid.record, NOW + days * DAY)
    expect(published(later(29.9).record)).toEqual([span(10)])
    expect([later(30).refused[0]?.reason, published(later(30).record)]).toEqual([
      'overlaps_published',
      [],
    ])
  })

  it('takes turns for a window that slides: the next one begins behind the last', () => {
    let record: UploadRecord | null = null
    const days: number[] = []
    for (let day = 0; day < 60; day += 1) {
      const now = NOW + day * DAY
      const times = { first_seen_ms: now - 7 * DAY + 1, last_seen_ms: now }
      const admission = admit([row(times)], record, now)
      record = admission.record
      if (admission.accepted === 1) days.push(day)
      expect(published(record)).toHaveLength(1)
    }
    expect(days).toEqual([0, 8, 16, 24, 32, 40, 48, 56])
  })

  it('counts the sessions of all spans that it has in it', () => {
    const two = admit([span(10, 4, 10), span(10, 4, 1)]).record
    expect(admit([span(24, 14, 0)], two).accepted).toBe(0)
    expect(admit([span(25, 14, 0)], two).accepted).toBe(1)
    const nested = admit([span(15, 11, 0)], first).record
    expect(admit([span(19, 12, 0)], nested).accepted).toBe(0)
    expect(admit([span(20, 12, 0)], nested).accepted).toBe(1)
    expect(admit([span(20, 12, 0)], nested).record.spans).toHaveLength(1)
  })

  it('drops endpoints and spans that it does not have any more', () => {
    const other = row({ endpoint_class: 'curl' })
    const { record } = admit([other], first)
    expect(published(record)).toEqual([other])
    expect(admit([span(11)], record).accepted).toBe(0)
  })

  it('may add time behind what was published', () => {
    const later = row({ first_seen_ms: NOW, last_seen_ms: NOW })
    expect(published(admit([span(10), later], first).record)).toEqual([span(10), later])
  })

  it('goes on when the time of what was published has left the window', () => {
    const now = NOW + 40 * DAY
    const fresh = row({ first_seen_ms: now - DAY, last_seen_ms: now })
    const { record } = admit([fresh], first, now)
    expect(published(record)).toEqual([fresh])
    expect(record.spans).toHaveLength(1)
  })
})

describe('a withdrawal', () => {
  const withdrawn = withdrawRows(admit([span(10)]).record, NOW)

  it('leaves no figures, and the times of what was published', () => {
    expect(withdrawn).toMatchObject({ withdrawn: true, rows: [] })
    expect(withdrawn.spans).toMatchObject([{ name: 'git_log', sessions: 10 }])
    expect(JSON.stringify(readRecord(writeRecord(withdrawn)))).not.toContain('900')
  })

  it('is no way around the rule for repeated uploads', () => {
    expect(admit([span(11)], withdrawn).accepted).toBe(0)
    expect(admit([span(10)], withdrawn).accepted).toBe(1)
  })
})

describe('a record', () => {
  const { record } = admit([row(), row({ endpoint_class: 'curl', avg_cols: null })])

  it('is read as it was written, wherever it lies in memory', () => {
    const bytes = writeRecord(record)
    const shifted = new Uint8Array(bytes.length + 3).subarray(3)
    shifted.set(bytes)
    for (const each of [bytes, shifted]) expect(readRecord(each)).toEqual(record)
  })

  it('is none where it is cut off or of another version', () => {
    const bytes = writeRecord(record)
    for (let length = 0; length < bytes.length; length += 7) {
      expect(readRecord(bytes.slice(0, length))).toBeNull()
    }
    const [head, ...rest] = readLines(bytes) as readonly object[]
    expect(readRecord(writeLines([head, ...rest]))).toEqual(record)
    expect(readRecord(writeLines([{ ...head, version: 1 }, ...rest]))).toBeNull()
  })
})
