import { Packr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import { TEXT_TYPES, toBytes } from '../../../../src/core/base/text-bytes.ts'
import { writeOriginal } from '../../../../src/http/routes/retrieve.ts'

const PIECE = 64 * 1024
const packr = new Packr({ useRecords: false })
const FIELDS = { hash: 'f', bytes: 7 }

type Written = ReturnType<typeof writeOriginal>

/** The pieces that an answer comes in, one if it is not a stream. */
async function piecesOf({ body }: Written): Promise<Buffer[]> {
  if (body instanceof Uint8Array) return [Buffer.from(body)]
  const pieces: Buffer[] = []
  for await (const piece of body) pieces.push(Buffer.from(piece))
  return pieces
}

async function read(written: Written): Promise<unknown> {
  const bytes = Buffer.concat(await piecesOf(written))
  return written.media === 'json' ? JSON.parse(bytes.toString()) : packr.unpack(bytes)
}

const utf8 = (text: string) => ({ bytes: Buffer.from(text), media_type: TEXT_TYPES.utf8 })

describe.each(['json', 'msgpack'] as const)('an original as %s', accept => {
  test.each([
    ['empty', ''],
    ['short', 'a "text"\n\u0000'],
    ['one piece', 'x'.repeat(PIECE)],
    ['one piece and a byte', 'x'.repeat(PIECE + 1)],
    ['with a mark at its begin', `\ufeff${'x'.repeat(PIECE)}\ufeff`],
    ['with quotes and breaks', '"\\\n\u2028\u0001'.repeat(20_000)],
    ['with characters over the end of a piece', `x${'€'.repeat(60_000)}`],
    ['with long characters', `xyz${'😀'.repeat(60_000)}é`],
  ])('%s', async (_, text) => {
    const written = writeOriginal(FIELDS, utf8(text), accept)
    expect(written.media).toBe(accept)
    expect(await read(written)).toEqual({ ...FIELDS, original_content: text })
  })

  test('an original comes without other fields', async () => {
    const text = 'x'.repeat(PIECE + 1)
    const written = writeOriginal({ a: 1 }, utf8(text), accept)
    expect(await read(written)).toEqual({ a: 1, original_content: text })
  })

  test('comes in pieces from 64 KiB on', async () => {
    expect(writeOriginal(FIELDS, utf8('x'.repeat(PIECE)), accept).body).toBeInstanceOf(Uint8Array)
    const pieces = await piecesOf(writeOriginal(FIELDS, utf8('x'.repeat(3 * PIECE + 1)), accept))
    const longest = Math.max(...pieces.map(({ length }) => length))
    expect(longest).toBe(PIECE)
    expect(pieces.filter(({ length }) => length === PIECE)).toHaveLength(3)
  })
})

test('halves of characters are written as JSON, whatever is asked for', async () => {
  for (const text of ['\ud800 half', `\udc00${'x'.repeat(PIECE)}\ud800`]) {
    const stored = toBytes(text)
    expect(stored.media_type).toBe(TEXT_TYPES.wtf8)
    const written = writeOriginal(FIELDS, stored, 'json')
    expect(await read(written)).toEqual({ ...FIELDS, original_content: text })
    if (text.length > PIECE) expect(writeOriginal(FIELDS, stored, 'msgpack').media).toBe('json')
  }
})
