import { describe, expect, it } from 'vitest'
import {
  differencesOf,
  firstDifference,
} from '../../../../../src/core/conversation/prefix/change-kind.ts'

const kindOf = (one: string, two: string) =>
  firstDifference(Buffer.from(`"Session ${one}, go on"`), Buffer.from(`"Session ${two}, go on"`))

describe('the first difference of two texts', () => {
  it.each([
    ['uuid', '6f1c2a34-9a8b-4c1d-8e2f-001122334455', '6f1c2a34-9a8b-4c1d-8e2f-001122334456'],
    ['jwt', 'eyJhbGciOi.eyJzdWIiOiIx.c2lnbmF0', 'eyJhbGciOi.eyJzdWIiOiIy.c2lnbmF1'],
    ['iso_datetime', '2026-11-25T10:00:00Z', '2026-11-26T10:00:00Z'],
    ['iso_datetime', '2026-11-25 10:00', '2026-11-25 10:01'],
    ['date', '2026-11-25', '2026-11-26'],
    ['date', '25/11/2026', '26/11/2026'],
    ['date', 'November 25, 2026', 'November 26, 2026'],
    ['date', '25 Nov 2026', '26 Nov 2026'],
    ['hex', 'deadbeefdeadbeefdeadbeef', 'deadbeefdeadbeefdeadbee0'],
    ['other', 'deadbeef', 'deadbee0'],
    ['other', 'Anna', 'Berta'],
    ['other', 'Anna', '2026-11-25'],
    ['other', '6f1c2a34-9a8b-4c1d-8e2f-001122334455', 'none'],
    ['other', 'deadbeefdeadbeefdeadbeefxyz', 'deadbeefdeadbeefdeadbee0xyz'],
  ])('is of kind %s: %s, %s', (kind, one, two) => {
    expect(kindOf(one, two).kind).toBe(kind)
    expect(kindOf(two, one).kind).toBe(kind)
  })

  it('is the first one, whatever follows', () => {
    const found = kindOf('2026-11-25 Anna', '2026-11-26 Berta')
    expect(found).toEqual({ kind: 'date', at: '"Session 2026-11-2'.length })
  })

  it('is not what stands beside the difference', () => {
    expect(kindOf('2026-11-25 Anna', '2026-11-25 Berta').kind).toBe('other')
  })

  it('takes linear time on long texts', () => {
    const long = 'eyJ'.repeat(100_000)
    expect(kindOf(`${long}a`, `${long}b`).kind).toBe('other')
  })
})

describe('all differences', () => {
  const kindsOf = (one: string, two: string) =>
    differencesOf(Buffer.from(one), Buffer.from(two)).map(({ kind, at }) => `${kind} ${at}`)

  it('are the first of each kind, the earliest first', () => {
    const text = (id: string, date: string, name: string) =>
      `Session ${id}.\nToday is ${date}. Yesterday was not ${date}.\nUser ${name}.`
    const one = text('6f1c2a34-9a8b-4c1d-8e2f-001122334455', '2026-01-02', 'ann')
    const two = text('6f1c2a34-9a8b-4c1d-8e2f-001122334466', '2026-01-03', 'bob')
    expect(kindsOf(one, two)).toEqual(['uuid 42', 'date 64', 'other 102'])
    expect(kindsOf(one, text('6f1c2a34-9a8b-4c1d-8e2f-001122334455', '2026-01-03', 'ann'))).toEqual(
      ['date 64'],
    )
  })

  it('are other alone if there is more of a kind than before', () => {
    expect(kindsOf('Notes.', 'Notes. 2026-01-02')).toEqual(['other 6'])
  })
})
