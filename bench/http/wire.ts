import { readFileSync } from 'node:fs'

/**
 * Requests and answers as bytes, for loads that must take as little of the shared cores as they
 * can.
 */

const HEAD_END = Buffer.from('\r\n\r\n')
const LENGTH = Buffer.from('content-length: ')
const LINE_END = 0x0d

export interface RequestPlan {
  readonly port: number
  readonly path: string
  readonly method: 'GET' | 'POST'
  /** A file of request bodies, a JSON text a line; none for GET. */
  readonly bodies?: string
  /** The key that requests are sent with. */
  readonly key?: string
}

/** The requests of a plan, ready to be written. */
export function requestsOf({ method, path, port, bodies, key }: RequestPlan): Buffer[] {
  const from = key === undefined ? '' : `authorization: Bearer ${key}\r\n`
  const head = `${method} ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n${from}`
  if (bodies === undefined) return [Buffer.from(`${head}\r\n`)]
  const lines = readFileSync(bodies, 'utf8').split('\n').filter(Boolean)
  return lines.map(line =>
    Buffer.from(
      `${head}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(line)}\r\n\r\n${line}`,
    ),
  )
}

export interface Answer {
  /** Bytes of the answer. */
  readonly end: number
  readonly status: number
  /** Whether the connection ends with it. */
  readonly last: boolean
}

/** The answer at the head of `bytes` once it is complete. */
export function answerIn(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  // Both spellings that Node's servers use.
  const at = Math.max(bytes.indexOf(LENGTH), bytes.indexOf('Content-Length: '))
  let length = 0
  for (let i = at + LENGTH.length; at !== -1 && bytes[i] !== LINE_END; i++) {
    length = length * 10 + (bytes[i] as number) - 0x30
  }
  const end = headEnd + HEAD_END.length + length
  if (bytes.length < end) return null
  const head = bytes.toString('latin1', 0, headEnd)
  return { end, status: Number(head.slice(9, 12)), last: /\nconnection: close/i.test(head) }
}

/** The value below which `share` of the sorted numbers lie; 0 for none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? 0
}
