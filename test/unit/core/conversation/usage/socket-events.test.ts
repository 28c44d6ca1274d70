import { describe, expect, it } from 'vitest'
import {
  MessageType,
  ResponseEvents,
} from '../../../../../src/core/conversation/usage/socket-events.ts'

/** What is found in events, each cut in pieces of a size. */
function ends(size: number, ...messages: readonly string[]) {
  const events = new ResponseEvents()
  return messages.map(message => {
    const bytes = Buffer.from(message)
    let last = null
    for (let at = 0; at === 0 || at < bytes.length; at += size) {
      last = events.read(bytes.subarray(at, at + size), at + size >= bytes.length)
    }
    return last
  })
}

const USAGE = { input_tokens: 10, input_tokens_details: { cached_tokens: 4 }, output_tokens: 3 }
const event = (type: string, usage: object | null = null, more: object = {}) =>
  JSON.stringify({
    type,
    response: { id: 'resp_1', model: 'gpt-5', output: ['{"type":1}'], usage, ...more },
  })

describe('the last event of a response', () => {
  it.each([1, 3, 1000])('has its usage, however it is cut: %d', size => {
    for (const type of ['completed', 'incomplete', 'failed']) {
      expect(ends(size, event('response.created'), event(`response.${type}`, USAGE))).toEqual([
        null,
        {
          isGiven: true,
          said: { usage: expect.objectContaining({ output: 3 }), model: 'gpt-5' },
          id: 'resp_1',
        },
      ])
    }
  })

  it('the end of a response may report no usage', () => {
    expect(ends(9, event('response.completed'))).toEqual([
      { isGiven: true, said: null, id: 'resp_1' },
    ])
  })

  it('is an error if none is made', () => {
    expect(ends(9, '{"type":"error","status":429,"error":{}}')).toEqual([
      { isGiven: false, said: null, id: undefined },
    ])
  })

  it('is not one that has the figures of another, or none at all', () => {
    const other = '{"type":"response.output_text.delta","usage":{"input_tokens":1}}'
    expect(ends(7, other, '', 'response.completed', '[[{"', event('response.completed'))).toEqual([
      ...[null, null, null, null],
      { isGiven: true, said: null, id: 'resp_1' },
    ])
  })
})

describe('the type of a message', () => {
  const typeOf = (message: string, size = 1_000) => {
    const type = new MessageType()
    let found: string | null = null
    for (let at = 0; at < message.length; at += size) {
      found = type.read(Buffer.from(message.slice(at, at + size)))
    }
    return found
  }

  it.each<[string, string | null]>([
    ['{"type":"response.create"}', 'response.create'],
    [
      `{"input":["${'x'.repeat(3_000)}",{"type":"no"}], "type" : "response.create"}`,
      'response.create',
    ],
    ['{"type":"a","type":"b"}', 'a'],
    ['{"input":{"type":"no"}}', null],
    ['{"type":1}', '1'],
    ['"type"', null],
    ['', null],
  ])('%s is found at its top', (message, type) => {
    for (const size of [1, 5, 10_000]) expect(typeOf(message, size)).toBe(type)
  })
})
