import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const CALL = '{"id" : 12345678901234567890, "method":"tools/call","params":{"id":1,"name":"echo"}}'

let upstream: RecordingUpstream
beforeEach(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy', sessions: true })
})
afterEach(() => upstream.close())

describe('over HTTP', () => {
  const post = (body: string, session = '') => {
    const headers = { 'content-type': 'application/json', 'mcp-session-id': session }
    return fetch(upstream.url, { method: 'POST', body, headers })
  }
  const open = async () => {
    const response = await post('{"id":0,"method":"initialize"}')
    return String(response.headers.get('mcp-session-id'))
  }

  test('records bytes and headers, and answers with the id as it is spelled', async () => {
    const session = await open()
    const response = await post(CALL, session)
    expect(await response.text()).toContain('"id":12345678901234567890,"result"')
    const [call] = upstream.callsOf('tools/call')
    expect(call?.bytes.toString()).toBe(CALL)
    expect(call).toMatchObject({ id: '12345678901234567890', name: 'echo' })
    expect(call?.http?.headers['mcp-session-id']).toBe(session)
  })

  test('streams what comes before the result', async () => {
    upstream.on('tools/call', exchange => {
      exchange.notify('notifications/progress', '{"progress":1.0}')
      exchange.send('{"jsonrpc":"2.0","id":"foreign","result":{}}')
      exchange.result('{"n":1.0}')
    })
    const text = await (await post(CALL, await open())).text()
    expect(text.split('\n').filter(line => line.startsWith('data: '))).toEqual([
      'data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1.0}}',
      'data: {"jsonrpc":"2.0","id":"foreign","result":{}}',
      'data: {"jsonrpc":"2.0","id":12345678901234567890,"result":{"n":1.0}}',
    ])
  })

  test('sends torn bytes, and cuts the connection', async () => {
    upstream.on('tools/call', ({ channel }) => {
      channel.raw('{"jsonrpc":"2.0","id":')
      channel.end()
    })
    const session = await open()
    expect(await (await post(CALL, session)).text()).toBe('{"jsonrpc":"2.0","id":')
    upstream.on('tools/call', ({ channel }) => channel.die())
    await expect(post(CALL, session)).rejects.toThrow()
  })

  test('notices a client that goes away', async () => {
    const gone = Promise.withResolvers<void>()
    upstream.on('tools/call', ({ channel }) => void channel.gone.then(gone.resolve))
    const headers = { 'mcp-session-id': await open() }
    const abort = new AbortController()
    const init = { method: 'POST', body: CALL, headers, signal: abort.signal }
    const response = fetch(upstream.url, init).catch(() => 'aborted')
    await eventually(() => expect(upstream.callsOf('tools/call')).toHaveLength(1))
    abort.abort()
    expect(await response).toBe('aborted')
    await gone.promise
  })

  test('knows no session that it has forgotten', async () => {
    const session = await open()
    expect((await post(CALL, session)).status).toBe(200)
    upstream.forgetSessions()
    expect((await post(CALL, session)).status).toBe(404)
  })

  test('announces on the stream of a session', async () => {
    const headers = { accept: 'text/event-stream', 'mcp-session-id': await open() }
    const response = await fetch(upstream.url, { headers })
    upstream.announce('notifications/tools/list_changed')
    const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read()
    expect(Buffer.from(value ?? []).toString()).toContain(
      '"method":"notifications/tools/list_changed"',
    )
  })
})

describe('over stdio', () => {
  const start = (...flags: readonly string[]): ChildProcessWithoutNullStreams => {
    const { command, args } = upstream.stdio.command(...flags)
    return spawn(command, args)
  }

  test('records lines, and answers lines or bytes', async () => {
    const child = start('--stderr', 'a warning')
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const stderr = once(child.stderr, 'data')
    child.stdin.write(`${CALL}\nnot JSON\n`)
    expect((await lines.next()).value).toContain('"id":12345678901234567890,"result"')
    await eventually(() => expect(upstream.calls).toHaveLength(2))
    expect(upstream.calls.map(({ bytes }) => bytes.toString())).toEqual([CALL, 'not JSON'])
    const [child0] = upstream.stdio.processes
    child0?.channel.raw('a log line\n')
    expect((await lines.next()).value).toBe('a log line')
    expect(String(await stderr)).toBe('a warning')
    child.stdin.end()
    expect((await once(child, 'close'))[0]).toBe(0)
    expect(upstream.stdio.processes.size).toBe(0)
  })

  test('dies in the middle of a call', async () => {
    upstream.on('tools/call', ({ channel }) => channel.die())
    const child = start()
    child.stdin.write(`${CALL}\n`)
    expect((await once(child, 'close'))[1]).toBe('SIGKILL')
  })

  test('closes its stdout and lives on', async () => {
    upstream.on('tools/call', ({ channel }) => channel.end())
    const child = start()
    child.stdin.write(`${CALL}\n`)
    child.stdout.resume()
    await once(child.stdout, 'end')
    child.stdin.write('{"method":"still/here"}\n')
    await eventually(() => expect(upstream.callsOf('still/here')).toHaveLength(1))
    expect(child.exitCode).toBeNull()
    child.kill()
    await once(child, 'close')
  })

  test('ignores SIGTERM and forks, until the test ends', async () => {
    const child = start('--stubborn', '--fork')
    await eventually(() => expect(upstream.stdio.processes.size).toBe(2))
    child.kill('SIGTERM')
    child.stdin.end(`${CALL}\n`)
    await eventually(() => expect(upstream.calls).toHaveLength(1))
    expect(child.exitCode).toBeNull()
    const closed = once(child, 'close')
    await upstream.close()
    await closed
    upstream = await RecordingUpstream.start({ era: 'modern' })
  })
})

describe('of 2026-07-28', () => {
  test('stamps what it announces with the id of the subscription', async () => {
    const modern = await RecordingUpstream.start({ era: 'modern' })
    try {
      const body = '{"id":"s1","method":"subscriptions/listen","params":{"notifications":{}}}'
      const response = await fetch(modern.url, { method: 'POST', body })
      modern.announce('notifications/resources/updated', '"uri":"a:b"')
      const reader = (response.body as ReadableStream<Uint8Array>).getReader()
      let text = ''
      while (!text.includes('"uri"')) text += Buffer.from((await reader.read()).value ?? [])
      expect(text).toMatch(/^event: message\ndata: .*subscriptions\/acknowledged/)
      expect(text).toContain('"io.modelcontextprotocol/subscriptionId":"s1"},"uri":"a:b"}')
      expect((await fetch(modern.url)).status).toBe(405)
    } finally {
      await modern.close()
    }
  })
})
