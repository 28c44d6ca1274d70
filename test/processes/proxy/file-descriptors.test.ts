import { connect, type Socket } from 'node:net'
import { afterAll, expect, it } from 'vitest'
import { message } from '../../integration/proxy/stand-in.ts'
import { answerOk, recordingUpstream } from '../../integration/service/recording-upstream.ts'
import { eventually } from '../../support/eventually.ts'
import { killProcesses, startProcess } from '../../support/service-process.ts'

afterAll(killProcesses)

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
