import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { CONVERSATIONS } from '../../integration/service/proxy-conversations.ts'
import { answerOk, recordingUpstream } from '../../integration/service/recording-upstream.ts'
import { killProcesses, startProcess } from '../../support/service-process.ts'
import { killAll, startRun } from '../run-process.ts'

/** Makes SIGUSR2 an error that nothing catches; a module for `--import`. */
const planted = (how: string) =>
  `data:text/javascript,${encodeURIComponent(`process.on('SIGUSR2', () => { ${how} })`)}`
const THROW = planted("throw new Error('planted')")
const REJECT = planted("Promise.reject(new Error('planted'))")

afterEach(() => {
  killProcesses()
  killAll()
})

describe('an error that nothing caught', () => {
  it.each([
    ['thrown', THROW],
    ['rejected', REJECT],
  ])('%s drains the service: what is under way ends, and the exit code says so', async (_, url) => {
    const upstream = await recordingUpstream()
    const asked = Promise.withResolvers<ServerResponse>()
    upstream.answerWith(response => {
      response.writeHead(200, { 'content-type': 'text/plain' })
      response.write('first ')
      asked.resolve(response)
    })
    const service = await startProcess({
      execArgv: ['--import', url],
      env: { HAVERSACK_ANTHROPIC_URL: upstream.url },
    })
    const answer = await fetch(`${service.url}/anthropic/v1/models`)
    const underWay = await asked.promise
    service.child.kill('SIGUSR2')
    service.child.kill('SIGUSR2')
    while (!service.stderr().includes('planted')) await once(service.child.stderr!, 'data')
    underWay.end('last')
    expect(await answer.text()).toBe('first last')
    expect(await service.exited).toBe(1)
    const fatal = service.log().filter(({ level }) => level === 60)
    expect(fatal).toMatchObject([{ err: { message: 'planted' } }])
    await upstream.close()
  })

  it('leaves a command under `haversack run` its base URL and its exit code', async () => {
    const upstream = await recordingUpstream()
    upstream.answerWith(answerOk)
    const body = CONVERSATIONS['anthropic']?.body(2) ?? ''
    const script = `
      const send = async () => {
        const response = await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', {
          method: 'POST', headers: { 'content-type': 'application/json' },
          body: ${JSON.stringify(body)} })
        return response.status
      }
      (async () => {
        console.log('sent ' + await send())
        process.kill(process.ppid, 'SIGUSR2')
        for (let n = 0; n < 20; n++) await send()
        console.log('sent ' + await send())
        process.exit(7)
      })()`
    const { ended, stdout, stderr } = startRun(['--', process.execPath, '-e', script], {
      NODE_OPTIONS: `--import=${THROW}`,
      ANTHROPIC_BASE_URL: upstream.url,
    })
    expect(await ended).toBe(7)
    expect(stdout()).toBe('sent 200\nsent 200\n')
    expect(upstream.requests[0]?.body.length).toBeLessThan(body.length)
    expect(upstream.last().body.toString()).toBe(body)
    expect(stderr()).toMatch(/^haversack: an error: an error that nothing caught: planted /m)
    await upstream.close()
  })
})
