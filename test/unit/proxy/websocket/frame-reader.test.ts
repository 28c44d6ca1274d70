import { describe, expect, it } from 'vitest'
import { FrameReader } from '../../../../src/proxy/websocket/frame-reader.ts'
import { mask, OPCODES, writeClose, writeFrame } from '../../../../src/proxy/websocket/frames.ts'

interface Read {
  readonly messages: readonly string[]
  readonly controls: readonly string[]
  readonly isBroken: boolean
  readonly reader: FrameReader
}

/** Reads bytes in chunks of a size. */
function read(bytes: Uint8Array, isMasked: boolean, size = bytes.length): Read {
  const reader = new FrameReader(isMasked)
  const messages: string[] = []
  const controls: string[] = []
  let message = ''
  for (let at = 0; at < bytes.length; at += size) {
    reader.feed(Buffer.from(bytes.subarray(at, at + size)))
    for (;;) {
      const next = reader.next()
      if (next === null) break
      if (next.kind === 'violation') return { messages, controls, isBroken: true, reader }
      if (next.kind === 'control') controls.push(`${next.opcode} ${next.bytes.toString('latin1')}`)
      else {
        if (next.isFirst) message = next.isText ? 'text ' : 'binary '
        message += next.bytes.toString('latin1')
        if (next.isLast) messages.push(message)
      }
    }
  }
  return { messages, controls, isBroken: false, reader }
}

const bytes = (...values: (number | string)[]) =>
  Buffer.concat(
    values.map(each => (typeof each === 'string' ? Buffer.from(each) : Buffer.of(each))),
  )

describe('frames', () => {
  it('are read as RFC 6455 §5.7 has them', () => {
    const hello = bytes(0x81, 0x05, 'Hello')
    expect(read(hello, false).messages).toEqual(['text Hello'])
    const masked = bytes(0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58)
    expect(read(masked, true).messages).toEqual(['text Hello'])
    const fragments = bytes(0x01, 0x03, 'Hel', 0x89, 0x01, '!', 0x80, 0x02, 'lo')
    expect(read(fragments, false)).toMatchObject({ messages: ['text Hello'], controls: ['9 !'] })
  })

  it.each([0, 1, 125, 126, 65_535, 65_536, 70_000])('of %d bytes are read as written', length => {
    const payload = Buffer.alloc(length, 'abc')
    for (const isMasked of [false, true]) {
      const options = { isMasked, isLast: true }
      const wire = Buffer.concat([
        writeFrame(OPCODES.binary, payload, options),
        writeFrame(OPCODES.text, Buffer.from('next'), options),
      ])
      for (const size of [1, 7, wire.length]) {
        const got = read(wire, isMasked, size)
        expect(got.messages).toEqual([`binary ${payload}`, 'text next'])
        expect(got.reader.isBetweenMessages).toBe(true)
      }
    }
  })

  it('are cut anywhere, with control frames between the fragments of a message', () => {
    const part = (opcode: number, text: string, isLast: boolean) =>
      writeFrame(opcode, Buffer.from(text), { isMasked: true, isLast })
    const wire = Buffer.concat([
      part(OPCODES.text, 'one ', false),
      part(OPCODES.ping, 'p'.repeat(125), true),
      part(OPCODES.continuation, '', false),
      part(OPCODES.continuation, 'two', true),
      writeClose(1001, 'away', true),
    ])
    for (let size = 1; size <= wire.length; size++) {
      const got = read(wire, true, size)
      expect(got.messages).toEqual(['text one two'])
      expect(got.controls).toEqual([`9 ${'p'.repeat(125)}`, '8 \x03\xe9away'])
    }
  })

  it('are masked wherever they are in memory', () => {
    const key = Buffer.of(1, 20, 30, 255)
    const all = Buffer.from(Array.from({ length: 40 }, (_, at) => at))
    for (let start = 0; start < 8; start++) {
      for (let length = 0; length < 12; length++) {
        for (let offset = 0; offset < 5; offset++) {
          const copy = Buffer.from(all)
          mask(copy.subarray(start, start + length), key, offset)
          const expected = all.map((byte, at) =>
            at < start || at >= start + length ? byte : byte ^ key[(offset + at - start) & 3]!,
          )
          expect(copy).toEqual(Buffer.from(expected))
        }
      }
    }
  })

  it('masked with a key of their own each', () => {
    const keys = Array.from({ length: 20 }, () =>
      writeFrame(OPCODES.text, Buffer.from('x'), { isMasked: true, isLast: true })
        .subarray(2, 6)
        .toString('hex'),
    )
    expect(new Set(keys).size).toBeGreaterThan(1)
  })

  it.each<[string, Buffer, boolean]>([
    ['with a reserved bit', bytes(0xc1, 0x00), false],
    ['of a reserved kind', bytes(0x83, 0x00), false],
    ['of a reserved control kind', bytes(0x8b, 0x00), false],
    ['of a client without a mask', bytes(0x81, 0x01, 'x'), true],
    ['of a server with a mask', bytes(0x81, 0x80, 0, 0, 0, 0), false],
    ['that control in fragments', bytes(0x09, 0x00), false],
    ['that control at length', bytes(0x89, 0x7e, 0x00, 0x7e), false],
    ['that continue nothing', bytes(0x80, 0x00), false],
    ['that begin within a message', bytes(0x01, 0x00, 0x81, 0x00), false],
    ['beyond any length', bytes(0x82, 0x7f, 0x80, 0, 0, 0, 0, 0, 0, 0), false],
    ['that close with half a code', bytes(0x88, 0x01, 'x'), false],
  ])('are a violation %s, and nothing follows', (_, wire, isMasked) => {
    for (const size of [1, wire.length]) {
      const got = read(wire, isMasked, size)
      expect(got.isBroken).toBe(true)
      got.reader.feed(bytes(0x81, 0x00))
      expect(got.reader.next()).toBeNull()
    }
  })

  it('say where they begin and end', () => {
    const reader = new FrameReader(false)
    reader.feed(bytes(0x81, 0x01, 'a', 0x01, 0x02, 'b'))
    expect(reader.next()).toMatchObject({ isFirst: true, isLast: true, length: 1 })
    expect([reader.offset, reader.isBetweenMessages]).toEqual([3, true])
    expect(reader.next()).toMatchObject({ isFirst: true, isLast: false, length: null })
    expect([reader.frameStart, reader.isBetweenFrames]).toEqual([3, false])
    expect(reader.next()).toBeNull()
    reader.feed(bytes('c'))
    expect(reader.next()).toMatchObject({ isFirst: false, isLast: false })
    expect([reader.frameStart, reader.isBetweenFrames, reader.isBetweenMessages]).toEqual([
      -3,
      true,
      false,
    ])
  })
})
