/** Draws a whole number from 0 to below `below`. */
export type Draw = (below: number) => number

/** What a hostile upstream sends for one request, and how. */
export interface HostileCase {
  /** The client's request, one character a byte. */
  readonly request: string
  /** Pieces of what the upstream sends, each in a write of its own. */
  readonly pieces: readonly string[]
  /** How its connection ends. */
  readonly end: 'fin' | 'reset'
}

const VERSIONS = ['1.1', '1.1', '1.1', '1.1', '1.0', '0.9', '1.2', '2.0', '2', '1.10', '']
const STATUSES = [
  ...['200', '200', '200', '204', '205', '206', '301', '304', '400', '429', '500', '529', '599'],
  ...['000', '099', '100', '101', '102', '103', '199', '600', '999', '1000', '20', '-1', '2e2', ''],
]
const NAMES = [
  ...['Content-Length', 'Transfer-Encoding', 'Connection', 'Trailer', 'Upgrade', 'Set-Cookie'],
  ...['Content-Type', 'Content-Encoding', 'X-A', 'x-haversack-added-ms', 'Date', '', 'X A', 'X\0'],
  ...['Content-Disposition', 'Keep-Alive', 'Proxy-Connection', '__proto__', 'constructor'],
]
/** Lines that break no rule, so that other faults are reached. */
const PLAIN = [
  'X-A: b\r\n',
  'Set-Cookie: a=b\r\n',
  'Content-Type: text/event-stream\r\n',
  'X-B: caf\xe9\r\n',
]
const VALUES = [
  ...['0', '5', '5', '10', '-1', '+5', '5, 5', '0x5', '99999999999999999999', '1e9', ''],
  ...['chunked', 'gzip, chunked', 'Chunked', 'identity', 'chunked, chunked', 'close', 'keep-alive'],
  ...[
    'upgrade',
    'websocket',
    'X-A, Content-Length',
    'X-T',
    'text/event-stream',
    'application/json',
  ],
  ...[
    'gzip',
    'br',
    'zstd',
    'deflate',
    'a=b',
    'caf\xe9',
    '\x80\xff',
    'a\tb',
    'a\x01b',
    ' ',
    'a\r b',
  ],
]
const REQUESTS = [
  ['GET /anthropic/x HTTP/1.1'],
  ['HEAD /anthropic/x HTTP/1.1'],
  ['GET /anthropic/x HTTP/1.0'],
  ['GET /anthropic/x HTTP/1.1', 'Upgrade: websocket', 'Connection: Upgrade'],
  ['POST /anthropic/x HTTP/1.1', 'Content-Length: 5'],
  ['POST /anthropic/v1/messages HTTP/1.1', 'Content-Type: application/json', 'Content-Length: 2'],
  ['POST /anthropic/x HTTP/1.1', 'Content-Length: 5', 'Expect: 100-continue'],
  ['POST /openai/v1/responses HTTP/1.1', 'Content-Length: 5'],
]
const EVENT =
  'event: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":1e999}}\n\n'

/** Answers that break the rules of HTTP in one to several places, torn anywhere. */
export function hostileCase(draw: Draw): HostileCase {
  const pick = <T>(from: readonly T[]): T => from[draw(from.length)] as T
  const bytes = (count: number) =>
    Array.from({ length: count }, () => String.fromCharCode(draw(256))).join('')
  const reason = () =>
    draw(3) > 0 ? ' OK' : pick(['', ' ', ` ${bytes(8)}`, ' O\x01K', ' \x7f', ' caf\xe9'])
  const lineEnd = () => (draw(40) === 0 ? pick(['\n', '\r', '\r\r\n', '\n\r']) : '\r\n')
  const header = () => {
    if (draw(5) > 0) return pick(PLAIN)
    const name = draw(30) === 0 ? bytes(5) : pick(NAMES)
    const value = draw(30) === 0 ? bytes(20) : pick(VALUES)
    return `${draw(40) === 0 ? ' ' : ''}${name}:${draw(4) === 0 ? '' : ' '}${value}${lineEnd()}`
  }
  const headers = (most: number) => Array.from({ length: draw(most) }, header).join('')
  const head = (status: string) =>
    `HTTP/${draw(8) > 0 ? '1.1' : pick(VERSIONS)} ${status}${reason()}${lineEnd()}${framing()}${headers(5)}${lineEnd()}`
  const framing = () =>
    pick([
      '',
      'Content-Length: 5\r\n',
      'Transfer-Encoding: chunked\r\n',
      'Transfer-Encoding: chunked\r\n',
    ])
  const chunk = () =>
    pick([
      '5\r\nhello\r\n',
      '5;a=b\r\nhello\r\n',
      '2\r\nhello\r\n',
      'ffffffffffffffffff\r\n',
      'x\r\n',
    ])
  const body = () =>
    pick([
      () => 'hello',
      () => '',
      () => bytes(draw(200)),
      () => EVENT.repeat(draw(4)),
      () => `${'5\r\nhello\r\n'.repeat(draw(4))}0\r\n${headers(4)}\r\n`,
      () => `${chunk()}${chunk()}0\r\nX-T: a\x01b\r\n\r\n`,
      () => `${EVENT.length.toString(16)}\r\n${EVENT}\r\n`,
    ])()
  const interim = () => {
    const status = pick(['100', '100', '102', '103', '103', '199', '101'])
    return head(status).repeat(draw(20) === 0 ? draw(200) : 1)
  }
  let answer = ''
  for (let n = draw(3); n > 0; n--) answer += interim()
  answer += head(draw(12) === 0 ? bytes(3) : draw(3) > 0 ? '200' : pick(STATUSES)) + body()
  // A second answer, which nobody asked for.
  if (draw(6) === 0) answer += head('200') + body()
  if (draw(20) === 0) answer = `X-Long: ${'a'.repeat(70_000)}\r\n${answer}`
  if (draw(5) === 0) answer = answer.slice(0, draw(answer.length + 1))
  const [line = '', ...lines] = pick(REQUESTS)
  const length = lines.includes('Content-Length: 2') ? '{}' : 'hello'
  const hasBody = lines.some(each => each.startsWith('Content-Length'))
  const request = `${[line, 'Host: localhost', ...lines].join('\r\n')}\r\n\r\n${hasBody ? length : ''}`
  return { request, pieces: torn(answer, draw), end: draw(3) === 0 ? 'reset' : 'fin' }
}

function torn(text: string, draw: Draw): readonly string[] {
  const cuts = Array.from({ length: draw(4) }, () => draw(text.length + 1)).sort((a, b) => a - b)
  const at = [0, ...cuts, text.length]
  return at.slice(1).map((end, n) => text.slice(at[n], end))
}
