import { connect, type Socket } from 'node:net'

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Exchange {
  /** Complete answers, in the order in which they came; 1xx ones too. */
  readonly answers: readonly RawAnswer[]
  /** Bytes behind the last complete answer. */
  readonly rest: string
  /** Whether the service ended the connection. */
  readonly ended: boolean
}

/**
 * Sends bytes as they are and reads until `count` answers are complete or the service ends the
 * connection.
 */
export function exchange(url: string, bytes: string | Buffer, count = 1): Promise<Exchange> {
  return new Promise((resolve, reject) => {
    const socket = dial(url)
    let got: Buffer = Buffer.alloc(0)
    const finish = (ended: boolean) => {
      socket.destroy()
      resolve({ ...parseAnswers(got), ended })
    }
    socket.on('data', (chunk: Buffer) => {
      got = Buffer.concat([got, chunk])
      if (parseAnswers(got).answers.length >= count) finish(false)
    })
    socket.on('end', () => finish(true))
    socket.on('error', error => (got.length > 0 || isReset(error) ? finish(true) : reject(error)))
    socket.write(bytes)
  })
}

export function dial(url: string): Socket {
  const { port, hostname } = new URL(url)
  return connect(Number(port), hostname)
}

/** A request of lines, with the empty line behind its head. */
export function request(head: readonly string[], body = ''): string {
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** `POST /v1/count` of a body with its length, and more headers. */
export function countRequest(content: string, ...headers: readonly string[]): string {
  const body = JSON.stringify({ content })
  return request(
    [
      'POST /v1/count HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      ...headers,
    ],
    body,
  )
}

function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE'
}

function parseAnswers(bytes: Buffer): Omit<Exchange, 'ended'> {
  const answers: RawAnswer[] = []
  let text = bytes.toString('latin1')
  for (;;) {
    const end = text.indexOf('\r\n\r\n')
    if (end === -1) break
    const [first = '', ...lines] = text.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map(line => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const status = Number(first.split(' ')[1])
    const framed = bodyOf(text.slice(end + 4), headers)
    if (framed === null) break
    answers.push({ status, headers, body: framed.body })
    text = framed.rest
  }
  return { answers, rest: text }
}

/** The body at the start of `text`; `null` while it is not complete. */
function bodyOf(text: string, headers: Readonly<Record<string, string>>) {
  if (headers['transfer-encoding'] === 'chunked') return chunkedBody(text)
  const length = Number(headers['content-length'] ?? 0)
  return text.length < length ? null : { body: text.slice(0, length), rest: text.slice(length) }
}

function chunkedBody(text: string) {
  let body = ''
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at)
    if (line === -1) return null
    const size = Number.parseInt(text.slice(at, line), 16)
    const start = line + 2
    if (text.length < start + size + 2) return null
    if (size === 0) return { body, rest: text.slice(start + 2) }
    body += text.slice(start, start + size)
    at = start + size + 2
  }
}
