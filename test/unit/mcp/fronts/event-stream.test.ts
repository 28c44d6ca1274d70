import { describe, expect, it } from 'vitest'
import { EventStream } from '../../../../src/mcp/fronts/modern/modern-front.ts'
import { createFakeClock } from '../../../support/mcp/fake-clock.ts'

const message = (text: string) => Buffer.from(JSON.stringify(text))
const MEGABYTE = message('x'.repeat(1024 * 1024))

async function read(stream: EventStream): Promise<string> {
  let text = ''
  for await (const chunk of stream.body) text += Buffer.from(chunk)
  return text
}

describe('a stream of events', () => {
  it('holds each message, and ends with the answer', async () => {
    const clock = createFakeClock()
    const stream = new EventStream(clock, () => {})
    expect(stream.notify(message('a'))).toBe(true)
    stream.end(message('b'))
    expect(stream.notify(message('c'))).toBe(false)
    expect(await read(stream)).toBe('event: message\ndata: "a"\n\nevent: message\ndata: "b"\n\n')
    expect(clock.waiting()).toBe(0)
  })

  it('loses notifications that are not read, and never the answer', async () => {
    const stream = new EventStream(createFakeClock(), () => {})
    expect(stream.notify(MEGABYTE)).toBe(true)
    for (let i = 0; i < 100; i++) expect(stream.notify(MEGABYTE)).toBe(false)
    stream.end(message('answer'))
    const text = await read(stream)
    expect(text).toContain('data: "answer"')
    expect(text.length).toBeLessThan(2 * 1024 * 1024)
  })

  it('keeps its connection with comments, while they are read', async () => {
    const clock = createFakeClock()
    const stream = new EventStream(clock, () => {})
    clock.advance(30_000)
    stream.notify(MEGABYTE)
    clock.advance(1e6)
    stream.cut()
    const text = await read(stream)
    expect(text.split(': keepalive\n\n')).toHaveLength(3)
  })

  it('tells when its client goes, and leaves no timer', async () => {
    const clock = createFakeClock()
    let isGone = false
    const stream = new EventStream(clock, () => {
      isGone = true
    })
    await stream.body.cancel()
    expect([isGone, clock.waiting()]).toEqual([true, 0])
    stream.end(message('late'))
  })
})
