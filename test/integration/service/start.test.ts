import { describe, expect, it } from 'vitest'
import { json, startSmallService, startTestService } from './harness.ts'

describe('the service', () => {
  it('starts, answers, keeps its port from others, and closes', async () => {
    const service = await startTestService()
    expect((await fetch(`${service.url}/readyz`)).status).toBe(200)
    const answer = await json(
      service.post('/v1/encode', '{"content":"[{\\"a\\": 1},{\\"a\\": 2}]"}'),
    )
    expect(answer).toMatchObject({ layer: 'L2', lossless: true })
    const decoded = service.post(
      '/v1/decode',
      JSON.stringify({ content: answer['content'], format: answer['format'] }),
    )
    expect(await json(decoded)).toEqual({
      content: '[{"a":1},{"a":2}]',
      media_type: 'application/json',
    })
    const port = Number(new URL(service.url).port)
    await expect(startSmallService({ port })).rejects.toThrow(/EADDRINUSE/)
    await service.close()
    await expect(fetch(`${service.url}/livez`)).rejects.toThrow()
  })

  it('says soon why it cannot start', async () => {
    const workerUrl = new URL('./no-such-worker.ts', import.meta.url)
    await expect(startTestService({}, { workerUrl })).rejects.toThrow(/workers do not answer/)
  })
})
