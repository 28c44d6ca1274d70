import { spawn } from 'node:child_process'
import { closeSync, writeSync } from 'node:fs'
import { createInterface } from 'node:readline'

/**
 * A server over stdio that writes its messages by hand, and misbehaves as the name of the called
 * tool says. `UPSTREAM_ERA`: `legacy`, `modern`, or how a legacy server takes a probe: `exits`,
 * `silent`. With `UPSTREAM_STUBBORN` it ignores every request to end.
 */
const era = process.env['UPSTREAM_ERA'] ?? 'legacy'

interface Received {
  readonly id?: unknown
  readonly method?: string
  readonly params?: {
    name?: string
    requestId?: unknown
    notifications?: unknown
    _meta?: Record<string, unknown>
  }
}

/** Synchronous, so that everything is out before the process ends. */
function write(text: string): void {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
    }
  }
}

const send = (message: string) => write(`${message}\n`)
const answer = (id: unknown, result: string) =>
  send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`)
const notify = (method: string, params: string) =>
  send(`{"jsonrpc":"2.0","method":"${method}","params":${params}}`)
const quoted = (line: string) => `{"received":${JSON.stringify(line)}}`

if (process.env['UPSTREAM_STUBBORN'] !== undefined) {
  process.on('SIGTERM', () => {})
  setInterval(() => {}, 60_000)
}

/** The call that waits for the answer to a request of ours, or for its cancellation. */
let waiting: unknown = null

const TOOLS: Record<string, (id: unknown, line: string, message: Received) => void> = {
  echo: (id, line) =>
    answer(id, `{"received":${JSON.stringify(line)},"big":12345678901234567890,"one":1.0}`),
  hang: () => {},
  late: id => {
    waiting = id
  },
  die: () => process.kill(process.pid, 'SIGKILL'),
  flood: () => {
    for (;;) write('x'.repeat(65_536))
  },
  torn: id => {
    write('a line of a log\n{"jsonrpc":"2.0","id":\n\n[]\n{"jsonrpc":"2.0"}\r\n')
    answer(id, '{}')
  },
  foreign: id => {
    answer(987_654, '{"foreign":true}')
    answer(String(id), '{"foreign":true}')
    answer(id, '{"foreign":false}')
    answer(id, '{"foreign":"twice"}')
  },
  progress: (id, _, { params }) => {
    const token = JSON.stringify(params?._meta?.['progressToken'])
    notify('notifications/progress', `{"progressToken":${token},"progress":0.50}`)
    notify('notifications/progress', '{"progressToken":"unknown","progress":1}')
    notify('notifications/message', '{"level":"info","data":1.0}')
    notify('notifications/tools/list_changed', '{}')
    answer(id, '{}')
    notify('notifications/progress', `{"progressToken":${token},"progress":1}`)
  },
  ask: id => {
    waiting = id
    send('{"jsonrpc":"2.0","id":"s-1","method":"sampling/createMessage","params":{"n":1.0}}')
  },
  ping: id => {
    waiting = id
    send('{"jsonrpc":"2.0","id":1e2,"method":"ping"}')
  },
  stderr: id => {
    process.stderr.write(`${'e'.repeat(10_000)}the end`, () => answer(id, '{}'))
  },
  environment: id => answer(id, JSON.stringify({ env: process.env, cwd: process.cwd() })),
  'close-output': () => closeSync(1),
  fork: id => {
    const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
      stdio: 'ignore',
    })
    answer(id, JSON.stringify({ pid: process.pid, forked: child.pid }))
  },
}

const CAPABILITIES = '{"tools":{"listChanged":true},"x":1.0}'

function request(message: Received, line: string): void {
  const { id, method, params } = message
  const isModern = era === 'modern'
  if (method === 'initialize' && !isModern) {
    answer(
      id,
      `{"protocolVersion":"2025-11-25","capabilities":${CAPABILITIES},"serverInfo":{"name":"raw"}}`,
    )
  } else if (method === 'server/discover' && isModern) {
    answer(
      id,
      `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${CAPABILITIES},` +
        '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"raw"}}}',
    )
  } else if (method === 'subscriptions/listen') {
    const meta = `{"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}}`
    const honoured = JSON.stringify(params?.notifications)
    notify(
      'notifications/subscriptions/acknowledged',
      `{"notifications":${honoured},"_meta":${meta}}`,
    )
    notify('notifications/tools/list_changed', `{"_meta":${meta}}`)
  } else if (method === 'tools/call') TOOLS[params?.name ?? '']?.(id, line, message)
  else if (method === 'server/discover' && era === 'exits') process.exit(1)
  else if (method === 'server/discover' && era === 'silent') return
  else {
    const error =
      isModern && method === 'initialize'
        ? '{"code":-32022,"message":"no","data":{"supported":["2026-07-28"]}}'
        : '{"code":-32601,"message":"no such method"}'
    send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"error":${error}}`)
  }
}

createInterface({ input: process.stdin }).on('line', line => {
  const message = JSON.parse(line) as Received
  if (message.method === undefined) answer(waiting, quoted(line))
  else if (message.id !== undefined) request(message, line)
  else if (message.method === 'notifications/cancelled' && message.params?.requestId === waiting) {
    answer(waiting, '{}')
    notify('notifications/message', quoted(line))
  }
})
