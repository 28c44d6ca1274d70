import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { EncodeAnswer } from '../../../src/core/contract/encode.ts'
import { jobRoute } from '../../../src/http/jobs/job-route.ts'
import { BUILDERS, type Builders } from '../../../src/service/builders.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'
import { json, startTestService } from '../../integration/service/harness.ts'
import { sourceText } from '../../support/session-app.ts'

type TestService = Awaited<ReturnType<typeof startTestService>>

const read = (session: string, content: string, tool_call_id?: string) => {
  const call = tool_call_id === undefined ? {} : { tool_call_id }
  return { session, content, tool: 'Read', args: { file_path: 'a.ts' }, ...call }
}

function clientOf(service: () => TestService) {
  const post = async (path: string, body: object) =>
    json(service().post(path, JSON.stringify(body)))
  return {
    post,
    encode: async (body: object) => (await post('/v1/encode', body)) as unknown as EncodeAnswer,
    decode: async ({ content, format }: EncodeAnswer, session: string) =>
      (await post('/v1/decode', { content, format, session }))['content'],
  }
}

describe('a thread that is lost while it is at a session', () => {
  let service: TestService
  const client = clientOf(() => service)
  beforeAll(async () => {
    service = await startTestService(
      { workers: { count: 2 } },
      {
        workerUrl: new URL('../../integration/service/worker-lost-in-session.ts', import.meta.url),
        routes: [
          ...['encode', 'decode', 'end-at'].map(op =>
            jobRoute({
              path: `/v1/${op}`,
              op,
              summary: op,
              scope: 'encode',
              request: z.unknown(),
              answer: z.unknown(),
            }),
          ),
        ],
      },
    )
  })
  afterAll(() => service.close())

  // Calls of the index and the memory of bodies, from the first to those after the result was
  // recorded. Between 5 and 7 it is counted and not noted yet, so that it may be counted twice.
  it.each([1, 3, 9, 12, 15])(
    'at its call %i leaves a session that tells the truth',
    async end_at => {
      const session = `lost-${end_at}`
      const before = sourceText('a')
      const after = `first()\n${before}`
      await client.encode(read(session, before))
      const lost = await client.post('/v1/end-at', { ...read(session, after, 't2'), end_at })
      expect(lost).toMatchObject({ code: 'worker_lost' })
      const first = await client.encode(read(session, after, 't2'))
      expect(first.layer).toBe('L0')
      expect(first.content).toContain('Read 1 call ago')
      expect(await client.decode(first, session)).toBe(after)
      expect(await client.encode(read(session, after, 't2'))).toEqual(first)
      const again = await client.encode(read(session, after, 't3'))
      expect(await client.decode(again, session)).toBe(after)
      // To the second call as a whole, or to lines of the first.
      expect(again.content).toMatch(
        again.format === 'ref@1' ? /Read 1 call ago/ : /Read 2 calls ago/,
      )
    },
  )
})

describe('a store that is full', () => {
  let service: TestService
  const client = clientOf(() => service)
  beforeAll(async () => {
    const { openServiceStore } = BUILDERS
    const small: Builders['openServiceStore'] = (config, reports) =>
      openServiceStore(config, reports, each =>
        openSqliteStore({ ...each, tenantMaxBytes: 262_144 }),
      )
    service = await startTestService(
      { workers: { count: 1 }, limits: { max_body_bytes: 131_072 } },
      { builders: { openServiceStore: small } },
    )
  })
  afterAll(() => service.close())

  it('has every result passed on, and no reference that cannot be redeemed', async () => {
    const session = 'full'
    let refused = 0
    for (let i = 0; i < 8; i++) {
      const content = randomBytes(40_000).toString('hex').replaceAll(/.{99}/g, '$&\n')
      const answer = await client.encode(read(session, content, `t${i}`))
      expect(await client.decode(answer, session)).toBe(content)
      if (answer.ref === undefined) refused++
      else {
        const url = `${service.url}/v1/retrieve/${answer.ref}?session=${session}`
        expect((await json(fetch(url)))['original_content']).toBe(content)
      }
      const again = await client.encode(read(session, content, `u${i}`))
      expect(again.layer).toBe(answer.ref === undefined ? 'L3' : 'L0')
    }
    expect(refused).toBeGreaterThan(0)
    const text = await (await fetch(`${service.url}/metrics`)).text()
    expect(text).toMatch(/haversack_answers_apart_total [1-9]/)
    expect(text).toMatch(/haversack_sessions 1\n/)
  })
})
