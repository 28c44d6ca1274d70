import { describe, expect, it } from 'vitest'
import {
  type BpeCounter,
  createBpeCounter,
  createPieceOwners,
} from '../../../../src/core/tokens/bpe-counter.ts'
import { OWNERS } from '../../../../src/core/tokens/kernel.ts'
import { ENCODINGS } from '../../../../src/core/tokens/profiles.ts'
import { openVocabulary } from '../../../../src/core/tokens/vocabulary.ts'
import { someOf } from '../../../support/short-runs.ts'
import { vocabularies } from '../../../support/vocabularies.ts'

/** Words, digits and symbols as ordinary results have them, and random ones as in base64. */
function textOf(seed: number): string {
  let state = seed
  const random = (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJ0123456789+/'
  const word = () => Array.from({ length: 2 + random(40) }, () => letters[random(48)]).join('')
  const plain = 'the result of fooBarBaz in src/core/tokens.ts was 12345 (ok) '
  return Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? plain : `${word()}\n`)).join('')
}

/** Pieces that a count has to work out, since they are in no cache. */
function missesOf(counter: BpeCounter, owner: string, text: string): number {
  counter.serve(owner)
  const before = counter.statistics().misses
  counter.count(text)
  return counter.statistics().misses - before
}

describe.each(someOf(ENCODINGS, 1))('owners of counted texts: %s', encoding => {
  const create = () => createBpeCounter(openVocabulary(vocabularies[encoding]))
  const text = textOf(1)
  const fresh = missesOf(create(), 'b', text)

  it.each([
    ['the same text', text],
    ['its first half', text.slice(0, text.length / 2)],
    ['another text', textOf(2)],
  ])('cause the same work after another has counted %s', (_, before) => {
    const counter = create()
    for (const other of ['', 'a', 'c']) missesOf(counter, other, before)
    expect(fresh).toBeGreaterThan(100)
    expect(missesOf(counter, 'b', text)).toBe(fresh)
    expect(missesOf(counter, 'b', text)).toBeLessThan(fresh / 2)
  })

  it('find their own pieces after others, and start without any after too many others', () => {
    const counter = create()
    missesOf(counter, 'b', text)
    for (let n = 2; n < OWNERS; n++) missesOf(counter, `${n}`, textOf(n))
    expect(missesOf(counter, 'b', text)).toBeLessThan(fresh / 2)
    for (let n = 0; n < OWNERS; n++) missesOf(counter, `late ${n}`, text)
    expect(missesOf(counter, 'b', text)).toBe(fresh)
  })

  it('get the counts of a counter of their own', () => {
    const counter = create()
    const texts = [0, 1, 2, 3, 4].map(textOf)
    const counts = texts.map(each => create().count(each))
    for (let n = 0; n < 3 * OWNERS; n++) {
      counter.serve(`${n % (OWNERS + 1)}`)
      expect(counter.count(texts[n % 5]!)).toBe(counts[n % 5])
    }
  })
})

it('gives the place of the owner that was away longest to a new one', () => {
  const owners = createPieceOwners(2)
  const place = (owner: string) => Object.values(owners.place(owner))
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map(place)).toEqual([
    [0, false],
    [1, false],
    [0, false],
    [1, true],
    [0, false],
    [1, true],
  ])
})
