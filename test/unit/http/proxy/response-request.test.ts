import { describe, expect, it } from 'vitest'
import { LOCAL } from '../../../../src/access/access.ts'
import { AppError } from '../../../../src/core/base/errors.ts'
import {
  type AskedResponse,
  type MessageTerms,
  ResponseRequest,
} from '../../../../src/http/proxy/response-request.ts'
import type { Ticket } from '../../../../src/pool/admission.ts'

const MAX_BYTES = 100

/** The terms of a connection, and what became of its messages. */
function connection({ isOn = true, room = 1_000 } = {}) {
  const asked: AskedResponse[] = []
  const counted: string[] = []
  const tickets = { held: 0, bytes: 0 }
  const state = { isDraining: false }
  const enter = (): Ticket => {
    tickets.held += 1
    let own = 0
    return {
      grow(bytes) {
        if (tickets.bytes + bytes > room) throw new AppError('overloaded', 'full')
        tickets.bytes += bytes
        own += bytes
      },
      add: () => undefined,
      leave() {
        if (own < 0) return
        tickets.bytes -= own
        tickets.held -= 1
        own = -1
      },
    }
  }
  const terms = {
    caller: LOCAL,
    vendor: 'openai',
    isDraining: () => state.isDraining,
    asked: (each: AskedResponse) => asked.push(each),
    rewrite: async (body: Uint8Array) => ({ bytes: Buffer.from(`<${Buffer.from(body)}>`) }),
    needs: {
      admission: { enter },
      rewriting: { isOn: () => isOn, maxBytes: MAX_BYTES },
      metrics: { proxy: { untouched: (_: string, reason: string) => counted.push(reason) } },
    },
  } as unknown as MessageTerms

  /** Sends a message in pieces. Returns what was sent of it, or the event that refused it. */
  async function send(...pieces: readonly string[]): Promise<string> {
    const message = new ResponseRequest(null, terms)
    let sent = ''
    for (const [n, piece] of pieces.entries()) {
      const taken = message.take(Buffer.from(piece), n === pieces.length - 1)
      if (taken.kind === 'refuse') return `refused ${taken.event}`
      if (taken.kind === 'pass') sent += `${Buffer.from(taken.bytes)}|`
      if (taken.kind === 'rewrite') {
        const { bytes, done } = await taken.message
        expect(tickets.held).toBe(1)
        done(true)
        sent += `${Buffer.from(bytes)}`
      }
    }
    return sent
  }
  return { send, asked, counted, tickets, state, terms }
}

const TYPE = '{"type":"response.create"'
const LONG = 'x'.repeat(MAX_BYTES)

describe('a message of a client', () => {
  it('that asks for a response is held until it is whole', async () => {
    const { send, asked, tickets } = connection()
    expect(await send(TYPE, ',"input":', '[]}')).toBe(`<${TYPE},"input":[]}>`)
    expect(await send('{"input":[],', '"type":"resp', 'onse.create"}')).toBe(
      '<{"input":[],"type":"response.create"}>',
    )
    expect(asked).toHaveLength(2)
    expect(tickets).toEqual({ held: 0, bytes: 0 })
  })

  it('of another type passes as soon as that is known', async () => {
    const { send, asked, tickets } = connection()
    expect(await send('{"input":1,', '"type":"other"', ',"more":1}')).toBe(
      '{"input":1,"type":"other"|,"more":1}|',
    )
    expect(await send('no', ' JSON')).toBe('no JSON|')
    expect(asked).toEqual([])
    expect(tickets).toEqual({ held: 0, bytes: 0 })
  })

  it('passes if it is too large or has no place, and is counted', async () => {
    const { send, asked, counted, tickets } = connection()
    expect(await send(TYPE, LONG, 'end')).toBe(`${TYPE}${LONG}|end|`)
    const full = connection({ room: 10 })
    expect(await full.send(TYPE, 'end')).toBe(`${TYPE}|end|`)
    expect(await full.send('{"input":', '"long enough"', ',"type":"response.create"}')).toBe(
      '{"input":"long enough"|,"type":"response.create"}|',
    )
    expect(await full.send('{"a":', '"long enough"', ',"type":"other"}')).not.toContain('<')
    expect([asked, counted]).toEqual([[{ untouched: 'too_large' }], ['too_large']])
    expect(full.counted).toEqual(['overloaded', 'overloaded'])
    expect(full.asked).toHaveLength(2)
    expect([tickets, full.tickets]).toEqual([
      { held: 0, bytes: 0 },
      { held: 0, bytes: 0 },
    ])
  })

  it('passes if nothing is rewritten now, and is accounted for', async () => {
    const { send, asked, counted } = connection({ isOn: false })
    expect(await send(TYPE, '}')).toBe(`${TYPE}|}|`)
    expect([asked, counted]).toEqual([[{ untouched: undefined }], []])
  })

  it('that is given up leaves its place', () => {
    const { terms, tickets } = connection()
    const message = new ResponseRequest(null, terms)
    message.take(Buffer.from(TYPE), false)
    expect(tickets.held).toBe(1)
    message.drop()
    expect(tickets).toEqual({ held: 0, bytes: 0 })
  })

  it('is refused while the service drains, unless it has begun to pass', async () => {
    const { send, state, tickets, asked } = connection({ room: 10 })
    state.isDraining = true
    expect(await send(`${TYPE}}`)).toMatch(/^refused {"type":"error","status":503,/)
    expect(await send('{"a":1,', '"type":', '"response.create"}')).toMatch(
      /\|"response.create"}\|$/,
    )
    expect(await send('{"type":"other"}')).toBe('{"type":"other"}|')
    expect(asked).toHaveLength(1)
    expect(tickets).toEqual({ held: 0, bytes: 0 })
  })
})
