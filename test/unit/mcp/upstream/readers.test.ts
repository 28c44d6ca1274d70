import { describe, expect, it } from 'vitest'
import { LineReader } from '../../../../src/mcp/upstream/line-reader.ts'
import { SseReader } from '../../../../src/mcp/upstream/sse-reader.ts'

function readLines(maxBytes: number, ...chunks: string[]) {
  const lines: string[] = []
  const reader = new LineReader(maxBytes)
  const pushed = chunks.map(chunk => reader.push(Buffer.from(chunk), line => lines.push(`${line}`)))
  return { lines, pushed }
}

describe('lines', () => {
  it('are joined from pieces; empty ones are left out', () => {
    expect(readLines(10, 'a', 'b\nc', '\n\nd').lines).toEqual(['ab', 'c'])
  })

  it('may have as many bytes as their bound, each', () => {
    expect(readLines(3, 'abc\nab', 'c\n')).toEqual({ lines: ['abc', 'abc'], pushed: [true, true] })
    expect(readLines(3, 'ab', 'cd')).toEqual({ lines: [], pushed: [true, false] })
    expect(readLines(3, 'abc\nabcd\ne\n')).toEqual({ lines: ['abc'], pushed: [false] })
  })
})

function readEvents(text: string, maxBytes = 1000) {
  const events: [data: string, id: string | null][] = []
  const reader = new SseReader(maxBytes, ({ data, lastId }) => events.push([`${data}`, lastId]))
  return { isWithinBound: reader.push(Buffer.from(text)), events, reader }
}

describe('events', () => {
  it.each<[string, [string, string | null][]]>([
    ['data: a\n\n', [['a', null]]],
    [
      'data:a\r\n\r\ndata:  b\r\r',
      [
        ['a', null],
        [' b', null],
      ],
    ],
    ['\ufeffdata: a\n\n', [['a', null]]],
    ['data: a\ndata\ndata: b\n\n', [['a\n\nb', null]]],
    [
      'id: 1\ndata: a\n\ndata: b\n\n',
      [
        ['a', '1'],
        ['b', '1'],
      ],
    ],
    ['id: 1\nretry: 5\ndata:\n\n', [['', '1']]],
    ['id: 1\n\n', [['', '1']]],
    ['id: 1\0\ndata: a\n\n', [['a', null]]],
    [
      'id: 1\n\nid\n\n',
      [
        ['', '1'],
        ['', ''],
      ],
    ],
    [': comment\n\n\n\n', []],
    ['event: message\nother: x\ndata: a\n\n', [['a', null]]],
    ['data: a\n', []],
    ['data : a\n\n', [['', null]]],
  ])('of %j', (text, expected) => {
    expect(readEvents(text).events).toEqual(expected)
  })

  it('give the wait that they name, if it is a number', () => {
    expect(readEvents('retry: 700\n').reader.retryMs).toBe(700)
    expect(readEvents('retry: 700\nretry: 1e3\n').reader.retryMs).toBe(700)
    expect(readEvents('data: a\n\n').reader.retryMs).toBeNull()
  })

  it('give their id only when they are complete', () => {
    expect(readEvents('id: 1\n\nid: 2\ndata: {').reader.lastId).toBe('1')
  })

  it('keep bytes that are no UTF-8', () => {
    const events: Buffer[] = []
    const reader = new SseReader(100, ({ data }) => events.push(data as Buffer))
    reader.push(Buffer.from('data: \xff\xfe\n\n', 'latin1'))
    expect(events).toEqual([Buffer.from([0xff, 0xfe])])
  })

  it('may not exceed their bound; comments and the events before do not count', () => {
    expect(readEvents('data: abc\n\n'.repeat(100), 200).isWithinBound).toBe(true)
    expect(readEvents(`: ${'c'.repeat(90)}\n`.repeat(100), 200).isWithinBound).toBe(true)
    expect(readEvents('x'.repeat(201), 200).isWithinBound).toBe(false)
    expect(readEvents('data:\n'.repeat(100), 200).isWithinBound).toBe(false)
    expect(readEvents('event: x\n'.repeat(100), 200).isWithinBound).toBe(false)
  })
})
