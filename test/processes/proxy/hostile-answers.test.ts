import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { createRandom } from '../../../src/lab/bill/statistics.ts'
import { leastHits, runs, SEED } from '../../support/runs.ts'
import { killProcesses, startProcess } from '../../support/service-process.ts'
import { type HostileCase, hostileCase } from './hostile-answer.ts'

/** 20,000 in a long run: `TEST_RUNS=67`. */
const CASES = runs(300)
const LIMIT_MS = 300_000 + CASES * 60

afterAll(killProcesses)

/** An upstream that answers every connection with one case, or rightly while there is none. */
async function hostileUpstream() {
  let current: HostileCase | null = null
  const server = createServer(socket => {
    socket.on('error', () => undefined)
    socket.once('data', () => void answer(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function answer(socket: Socket): Promise<void> {
    socket.on('data', () => undefined)
    if (current === null) {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood')
      return
    }
    const { pieces, end } = current
    for (const piece of pieces) {
      socket.write(piece, 'latin1')
      await new Promise(setImmediate)
    }
    if (end === 'fin') socket.end()
    else socket.resetAndDestroy()
  }

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play(next: HostileCase | null) {
      current = next
    },
    close: () => server.close(),
  }
}

/**
 * Sends a request on a connection of its own, half-closes it, and reads to the end, however it
 * comes.
 */
function send(url: string, request: string): Promise<string> {
  return new Promise(resolve => {
    const socket = connect({
      port: Number(new URL(url).port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    })
    let text = ''
    socket.setEncoding('latin1').on('data', part => {
      text += part
    })
    socket.on('error', () => undefined)
    socket.on('end', () => socket.destroy())
    socket.on('close', () => resolve(text))
    socket.write(request, 'latin1')
  })
}

/** An answer begins with a line of three digits and no control character, behind interim ones. */
const WELL_FORMED =
  /^(?:HTTP\/1\.1 1\d\d [^\r\n]*\r\n(?:[^\r\n]+\r\n)*\r\n)*(?:HTTP\/1\.1 [1-9]\d\d [\t\x20-\x7e\x80-\xff]*\r\n|$)/

it(
  `after each of ${CASES} hostile answers the process lives, and the next exchange is right`,
  async () => {
    const upstream = await hostileUpstream()
    const service = await startProcess({
      env: { HAVERSACK_ANTHROPIC_URL: upstream.url, HAVERSACK_OPENAI_URL: upstream.url },
    })
    const draw = createRandom(SEED)
    const closing = (request: string) =>
      request.includes('Upgrade:')
        ? request
        : request.replace('Host: localhost', 'Host: localhost\r\nConnection: close')
    let passed = 0
    for (let n = 0; n < CASES; n++) {
      const hostile = hostileCase(draw)
      upstream.play(hostile)
      const got = await send(service.url, closing(hostile.request))
      expect(got, `case ${n}: ${JSON.stringify(hostile)}`).toMatch(WELL_FORMED)
      if (/^HTTP\/1\.1 2/.test(got)) passed++
      upstream.play(null)
      const next = await send(
        service.url,
        closing('GET /anthropic/y HTTP/1.1\r\nHost: localhost\r\n\r\n'),
      )
      expect(next, `after case ${n}: ${JSON.stringify(hostile)}`).toMatch(
        /^HTTP\/1\.1 200 OK\r\n.*\r\n\r\ngood$/s,
      )
    }
    // Both what can be passed on and what cannot is among them.
    expect(passed).toBeGreaterThanOrEqual(leastHits(CASES / 20))
    expect(CASES - passed).toBeGreaterThanOrEqual(leastHits(CASES / 5))
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).not.toMatch(/^haversack_uncaught_errors_total [1-9]/m)
    expect(metrics).not.toMatch(/outcome="failed"\} [1-9]/)
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    upstream.close()
  },
  LIMIT_MS,
)
