import { describe, expect, it } from 'vitest'
import { admitRows, withdrawRows } from '../../../src/core/fingerprints/admit-rows.ts'
import type { Fingerprint } from '../../../src/core/fingerprints/fingerprint.ts'
import { unpackRow } from '../../../src/core/fingerprints/packed-rows.ts'
import {
  readRecord,
  type UploadRecord,
  writeRecord,
} from '../../../src/core/fingerprints/upload-record.ts'
import { DAY, NOW, row } from './rows.ts'

const terms = { member: 'ada', windowDays: 30, now: NOW }

function admit(rows: readonly Fingerprint[], earlier: UploadRecord | null = null, now = NOW) {
  return admitRows(rows, earlier, { ...terms, now })
}

function published({ rows }: UploadRecord): Fingerprint[] {
  return rows.names.map((_, index) => unpackRow(rows, index))
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

  it('refuses a row that shares time with another one of its endpoint', () => {
    const touching = row({ first_seen_ms: row().last_seen_ms, last_seen_ms: NOW })
    expect(admit([row(), touching]).refused).toMatchObject([{ reason: 'overlaps_row' }])
  })

  it('bounds the rows of an endpoint', () => {
    const minutes = Array.from({ length: 80 }, (_, index) => {
      const at = NOW - DAY + index * 60_000
      return row({ first_seen_ms: at, last_seen_ms: at + 1 })
    })
    const { accepted, refused } = admit(minutes)
    expect([accepted, refused.length, refused[0]?.reason]).toEqual([64, 16, 'too_many_spans'])
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
    ['one session more in more time', span(11, 10.5, 0.5)],
    ['four sessions more', span(14, 10.5, 0.5)],
    ['fewer sessions', span(8)],
    ['a window that has moved on', span(30, 10, 0)],
    ['a part of the time', span(10, 5, 2)],
    ['other figures', { ...span(10), avg_response_chars: 901 }],
  ])('with %s changes nothing', (_, next) => {
    const { record, accepted, refused } = admit([next], first)
    expect([accepted, refused[0]?.reason]).toEqual([0, 'overlaps_published'])
    expect(published(record)).toEqual([span(10)])
  })

  it('with five sessions more, and all of the time before, takes the place of the first', () => {
    const { record, refused } = admit([span(15, 10.5, 0.5)], first)
    expect([published(record), refused]).toEqual([[span(15, 10.5, 0.5)], []])
  })

  it('counts the sessions of all spans that it has in it', () => {
    const two = admit([span(10, 4, 10), span(10, 4, 1)]).record
    expect(admit([span(24, 14, 0)], two).accepted).toBe(0)
    expect(admit([span(25, 14, 0)], two).accepted).toBe(1)
    const nested = admit([span(15, 10.5, 0.5)], first).record
    expect(admit([span(20, 11, 0)], nested).accepted).toBe(1)
  })

  it('drops endpoints and spans that it does not have any more', () => {
    const other = row({ endpoint_class: 'curl' })
    const { record } = admit([other], first)
    expect(published(record)).toEqual([other])
    expect(admit([span(11)], record).accepted).toBe(0)
  })

  it('may add time behind what was published', () => {
    const later = row({ first_seen_ms: NOW - DAY + 1, last_seen_ms: NOW })
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
    expect(withdrawn).toMatchObject({ withdrawn: true, rows: { names: [] } })
    expect(withdrawn.spans).toMatchObject([{ name: 'git_log', sessions: 10 }])
    const text = Buffer.from(writeRecord(withdrawn)).toString('latin1')
    expect(text).not.toContain('900')
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
    const other = Buffer.from(
      Buffer.from(bytes).toString('latin1').replace('"version":1', '"version":2'),
      'latin1',
    )
    expect(readRecord(other)).toBeNull()
  })
})
