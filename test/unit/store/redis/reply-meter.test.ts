import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  MAX_REPLY_BYTES,
  MAX_REPLY_VALUES,
  ReplyMeter,
  ReplyTooLarge,
} from '../../../../src/store/redis/reply-meter.ts'
import { runs } from '../../../support/runs.ts'

/** Replies of RESP 2, with what is none inside of strings. */
const { reply } = fc.letrec<{ reply: string }>(tie => ({
  reply: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('+OK\r\n', '-ERR no\r\n', ':12\r\n', ':-1\r\n', '$-1\r\n', '*-1\r\n', '*0\r\n'),
    fc
      .array(fc.constantFrom('a', '\r\n', '$9\r\n', '*3\r\n', '+', '>'), { maxLength: 4 })
      .map(all => all.join(''))
      .map(text => `$${text.length}\r\n${text}\r\n`),
    fc.array(tie('reply'), { maxLength: 4 }).map(items => `*${items.length}\r\n${items.join('')}`),
  ),
}))

/** The content of a string of the greatest length. */
const GREATEST = Buffer.alloc(MAX_REPLY_BYTES - 4096)

function addAll(meter: ReplyMeter, chunks: readonly (string | Uint8Array)[]): void {
  for (const chunk of chunks) meter.add(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
}

function tooLarge(...chunks: readonly (string | Uint8Array)[]): void {
  expect(() => addAll(new ReplyMeter(), chunks)).toThrow(ReplyTooLarge)
}

describe('what one reply of Redis may have', () => {
  it('is counted anew for each reply, however they are cut', () => {
    fc.assert(
      fc.property(fc.array(reply, { minLength: 1 }), fc.integer({ min: 1, max: 9 }), (all, cut) => {
        const meter = new ReplyMeter()
        const text = all.join('')
        for (let at = 0; at < text.length; at += cut) addAll(meter, [text.slice(at, at + cut)])
        // Nothing is open: a string of the greatest length may begin.
        addAll(meter, [`$${GREATEST.length}\r\n`])
        expect(() => meter.add(GREATEST)).not.toThrow()
      }),
      { numRuns: runs(30) },
    )
  })

  it('ends with a reply: many that are small pass', () => {
    const meter = new ReplyMeter()
    const replies = ':1\r\n'.repeat(16_384)
    for (let i = 0; i < 100; i++) addAll(meter, [replies])
    for (let i = 0; i < 200_000; i++) addAll(meter, ['+', 'OK\r\n'])
  })

  it('is bounded in bytes, announced or not', () => {
    tooLarge(`$${MAX_REPLY_BYTES + 1}\r\n`)
    tooLarge('$9999999999999999999\r\n')
    const part = Buffer.alloc(MAX_REPLY_BYTES / 64, 0x61)
    tooLarge('+', ...Array.from({ length: 64 }, () => part))
    const value = Buffer.concat([Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')])
    tooLarge('*100\r\n', ...Array.from({ length: 64 }, () => value))
  })

  it('is bounded in chunks, which cost more than their bytes', () => {
    const chunks = Array.from({ length: Math.ceil(MAX_REPLY_BYTES / 512) }, () => 'a')
    expect(() => addAll(new ReplyMeter(), ['+', ...chunks])).toThrow(ReplyTooLarge)
  })

  it('is bounded in values, also of lists in lists', () => {
    tooLarge(`*${MAX_REPLY_VALUES + 1}\r\n`)
    tooLarge(`*${MAX_REPLY_VALUES / 2}\r\n`.repeat(3))
    tooLarge('*2\r\n:1\r\n'.repeat(MAX_REPLY_VALUES))
  })

  it.each(['%1\r\n', '~1\r\n', '>1\r\n', '_\r\n', '(1\r\n', 'HTTP/1.1 400 Bad Request\r\n'])(
    'is in RESP 2, unlike %j',
    text => tooLarge(text),
  )
})
