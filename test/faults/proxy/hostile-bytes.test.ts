import { describe, expect, it } from 'vitest'
import { dial, front, message, rawUpstream } from '../../integration/proxy/stand-in.ts'
import { FULL_RUNS, SEED } from '../../support/runs.ts'

/** Every byte; in a short run all control characters of ASCII, and every eighth of the others. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte)
  .filter(byte => FULL_RUNS || byte <= 0x20 || byte === 0x7f || byte % 8 === SEED % 8)
  .map(byte => String.fromCharCode(byte))
/** More than are ever refused. */
const REFUSED = 56
const CHUNKED = 'Transfer-Encoding: chunked'

/** A message with a value in one of the places where headers stand. */
const PLACES = {
  head: (first: string, value: string) => message([first, `X-A: a${value}b`, 'Content-Length: 0']),
  'a trailer': (first: string, value: string) =>
    message([first, CHUNKED], `2\r\nhi\r\n0\r\nX-A: a${value}b\r\n\r\n`),
}

describe.each(Object.keys(PLACES) as (keyof typeof PLACES)[])('any byte in %s', place => {
  it('of an answer passes as it is, or gives an error', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    for (const byte of BYTES) {
      const client = dial(
        proxy.url,
        message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close']),
      )
      const wire = await upstream.next()
      await wire.until('\r\n\r\n')
      const answer = PLACES[place]('HTTP/1.1 200 OK', byte)
      wire.socket.end(message(['HTTP/1.1 103 Early', `X-A: a${byte}b`]) + answer, 'latin1')
      const text = await client.all()
      const { outcome } = (await proxy.exchanges.at(-1)) ?? { outcome: 'none' }
      if (outcome === 'answered') expect(text.split(`X-A: a${byte}b\r\n`).length).toBe(3)
      else expect(outcome).toBe('broken')
    }
    const outcomes = await Promise.all(proxy.exchanges)
    expect(outcomes.filter(({ outcome }) => outcome === 'answered').length).toBeGreaterThan(
      BYTES.length - REFUSED,
    )
  })

  it('of a request passes as it is, or is refused', async () => {
    const upstream = await rawUpstream()
    const proxy = await front({ base: upstream.url })
    let passed = 0
    for (const byte of BYTES) {
      const request = PLACES[place]('POST /api/ HTTP/1.1\r\nHost: us\r\nConnection: close', byte)
      const client = dial(proxy.url, request)
      const answered = client.all()
      const wire = await Promise.race([upstream.next(), answered.then(() => null)])
      if (wire === null) {
        expect(await answered).toContain(' 400 ')
        upstream.forget()
        continue
      }
      const sent = wire.until(`X-A: a${byte}b\r\n`).then(
        () => wire.socket.end(message(['HTTP/1.1 204 No Content'])),
        () => null,
      )
      const text = await answered
      if (text.includes(' 204 ')) passed++
      else await sent
    }
    expect(passed).toBeGreaterThan(BYTES.length - REFUSED)
  })
})
