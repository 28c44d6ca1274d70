import { describe, expect, it } from 'vitest'
import { testApp } from '../../../support/app.ts'

const HEADER = 'x-haversack-reading'

/** So few lines that only `dense` texts take their heading out. */
const content = Array.from({ length: 6 }, (_, at) => `src/components/buttons/red-${at}.ts`).join(
  '\n',
)
const chat = {
  model: 'gpt-5',
  messages: [
    {
      role: 'assistant',
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'ls', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content },
  ],
}
const HEADING = 'red-…'

const { post } = testApp()
const answer = async (path: string, body: object, level?: string) => {
  const response = await post(path, JSON.stringify(body), level ? { [HEADER]: level } : {})
  return { status: response.status, text: await response.text() }
}

describe('X-Haversack-Reading of own routes', () => {
  it.each([
    ['/v1/encode', { content }],
    ['/v1/batch', { jobs: [{ op: 'encode', content }] }],
    ['/v1/compress', chat],
  ])('is the level of %s, and refused if it is none', async (path, body) => {
    expect((await answer(path, body)).text).not.toContain(HEADING)
    expect((await answer(path, body, 'plain')).text).not.toContain(HEADING)
    expect((await answer(path, body, ' Dense ')).text).toContain(HEADING)
    const { status, text } = await answer(path, body, 'easy')
    expect(status).toBe(400)
    expect(JSON.parse(text)).toMatchObject({ code: 'invalid_request', errors: [{ path: HEADER }] })
  })

  it('yields to the field', async () => {
    const named = { content, reading: 'dense' }
    expect((await answer('/v1/encode', named, 'plain')).text).toContain(HEADING)
    const wrong = await answer('/v1/encode', { content, reading: 'easy' }, 'plain')
    expect(wrong).toMatchObject({ status: 400, text: expect.stringContaining('invalid_request') })
  })
})
