import { describe, expect, it } from 'vitest'
import { createTurnPlaces, sampleTurn } from '../../../src/pool/turn-places.ts'

const HEAD = 'system '.repeat(2000)
/** A body of a conversation: what all have, its own messages, and what follows them. */
const bodyOf = (name: string, turns: number, tail = ']}') => {
  const messages = Array.from({ length: turns }, (_, n) => `${name} ${n} `.repeat(200))
  return Buffer.from([HEAD, ...messages, tail].join(''))
}
const turn = (name: string, turns: number, { tenant = 'team', op = 'rewrite', tail = ']}' } = {}) =>
  sampleTurn(tenant, op, bodyOf(name, turns, tail))

describe('the thread of a turn', () => {
  it('is the one that had the turn before, however alike conversations begin', () => {
    const places = createTurnPlaces()
    const names = ['one', 'two', 'three']
    for (let turns = 3; turns < 8; turns++) {
      for (const [thread, name] of names.entries()) {
        if (turns > 3) expect(places.find(turn(name, turns))).toBe(thread)
        places.note(turn(name, turns), thread)
      }
    }
    // A turn on another thread counts from then on.
    places.note(turn('two', 8), 7)
    expect(names.map(name => places.find(turn(name, 9)))).toEqual([0, 7, 2])
  })

  it('is found whatever follows the messages', () => {
    const places = createTurnPlaces()
    const tools = (n: number) => `],"tools":${`tool ${n} `.repeat(4000)}`
    for (const [thread, name] of ['one', 'two'].entries())
      places.note(turn(name, 5, { tail: tools(thread) }), thread)
    expect(places.find(turn('one', 6, { tail: tools(2) }))).toBe(0)
  })

  it('is not known of another tenant, of another operation or of a short body', () => {
    const places = createTurnPlaces()
    places.note(turn('one', 3), 1)
    expect(places.find(turn('one', 3, { tenant: 'other' }))).toBeUndefined()
    expect(places.find(turn('one', 3, { op: 'other' }))).toBeUndefined()
    const short = sampleTurn('team', 'rewrite', Buffer.from('{"messages":[]}'))
    places.note(short, 2)
    expect(places.find(short)).toBeUndefined()
    expect(places.find(turn('one', 4))).toBe(1)
  })

  it('is forgotten after 128 other conversations, but not after as many of its turns', () => {
    const places = createTurnPlaces()
    const other = (n: number) => sampleTurn('team', 'rewrite', Buffer.alloc(4096, `${n} other `))
    places.note(turn('one', 3), 1)
    for (let turns = 1; turns < 300; turns++) places.note(turn('two', turns), 2)
    for (let n = 0; n < 126; n++) places.note(other(n + 1000), 3)
    expect(places.find(turn('one', 4))).toBe(1)
    places.note(other(5000), 3)
    expect(places.find(turn('one', 4))).toBe(2)
  })

  it('is looked for at no more than 1,024 places of a body', () => {
    expect(sampleTurn('team', 'rewrite', new Uint8Array(4 << 20)).samples.length).toBe(1024)
    expect(sampleTurn('team', 'rewrite', new Uint8Array(1500)).samples.length).toBe(1)
  })
})
