import { connect, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { killProcesses, startProcess } from '../../support/service-process.ts'
import { answerOk, recordingUpstream } from '../service/recording-upstream.ts'
import { dial, front, message, rawUpstream } from './stand-in.ts'

afterAll(killProcesses)

const GET = message(['GET /api/ HTTP/1.1', 'Host: us', 'Connection: close'])
const ANSWER = message(['HTTP/1.1 200 OK', 'Content-Length: 4'], 'good')

it('a client that ends its side is taken for gone, and so is its request at the upstream', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const client = dial(proxy.url, GET)
  const wire = await upstream.next()
  await wire.until('\r\n\r\n')
  client.socket.end()
  await wire.all()
  expect(await proxy.exchanges[0]).toMatchObject({ outcome: 'aborted', status: null })
})

it('an upstream that ends its side in the middle of a request is not waited for', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  const head = ['POST /api/ HTTP/1.1', 'Host: us', 'Content-Length: 10']
  const client = dial(proxy.url, message(head, 'hello'))
  const wire = await upstream.next()
  wire.socket.allowHalfOpen = true
  await wire.until('hello')
  wire.socket.end()
  expect(await client.until('}')).toMatch(/^HTTP\/1\.1 502 /)
  await wire.all()
})

it('an upstream that ends its side after its answer is not sent the next request', async () => {
  const upstream = await rawUpstream()
  const proxy = await front({ base: upstream.url })
  for (let n = 0; n < 3; n++) {
    const client = dial(proxy.url, GET)
    const wire = await upstream.next()
    wire.socket.allowHalfOpen = true
    await wire.until('\r\n\r\n')
    wire.socket.end(ANSWER)
    expect(await client.all()).toMatch(/good$/)
    await wire.all()
  }
})

it('a service without a free file descriptor lives, and serves again once there are some', async () => {
  const upstream = await recordingUpstream()
  // Nothing is answered, so that each request needs a connection of its own.
  upstream.answerWith(() => {})
  const env = { HAVERSACK_ANTHROPIC_URL: upstream.url }
  const service = await startProcess({ openFiles: 100, env })
  const sockets: Socket[] = []
  const answers: string[] = []
  for (let n = 0; n < 150; n++) {
    const socket = connect(Number(new URL(service.url).port), '127.0.0.1')
    socket.on('error', () => undefined).on('data', data => answers.push(data.toString('latin1')))
    socket.write(message(['GET /anthropic/x HTTP/1.1', 'Host: localhost']))
    sockets.push(socket)
  }
  const isRefused = (answer: string) => /^HTTP\/1\.1 502 /.test(answer)
  await eventually(() => expect(answers.some(isRefused)).toBe(true))
  upstream.answerWith(answerOk)
  for (const socket of sockets) socket.destroy()
  const status = () =>
    fetch(`${service.url}/anthropic/y`).then(
      answer => answer.status,
      () => 0,
    )
  await eventually(async () => expect(await status()).toBe(200))
  const metrics = await (await fetch(`${service.url}/metrics`)).text()
  expect(metrics).toMatch(/outcome="unreachable"\} [1-9]/)
  expect(metrics).not.toMatch(/outcome="(?:broken|failed)"\}/)
  service.child.kill('SIGTERM')
  expect(await service.exited).toBe(0)
  await upstream.close()
})
