import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseHint } from '../../../src/core/hints/hint-line.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { json, startTestService } from './harness.ts'

type TestService = Awaited<ReturnType<typeof startTestService>>

const folder = mkdtempSync(join(tmpdir(), 'haversack-sessions-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const acme = keyFor('acme', { scopes: ['encode', 'retrieve'] })
const beta = keyFor('beta', { scopes: ['encode', 'retrieve'] })
writeKeysFile(join(folder, 'keys.json'), acme, beta)
const settings = {
  workers: { count: 2 },
  data_dir: join(folder, 'data'),
  keys_file: join(folder, 'keys.json'),
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(settings)
})
afterAll(() => service.close())

interface Answer {
  readonly content: string
  readonly format: string
  readonly layer: string
  readonly partition: number
  readonly ref?: string
  readonly hints: readonly { readonly family: string; readonly text: string }[]
  readonly savings: Record<string, number>
}

const headers = ({ key }: { readonly key: string }) => ({ 'x-api-key': key })

async function send(path: string, body: object, caller = acme): Promise<Record<string, unknown>> {
  return json(service.post(path, JSON.stringify(body), headers(caller)))
}

const encode = async (body: object, caller = acme) =>
  (await send('/v1/encode', body, caller)) as unknown as Answer

async function decoded({ content, format }: Answer, session: string): Promise<unknown> {
  return (await send('/v1/decode', { content, format, session }))['content']
}

/** A source file in which every line is its own. */
const source = (name: string, lines = 60) =>
  Array.from({ length: lines }, (_, i) => {
    return `${(7919 * (i + 11)).toString(36)}(${name}, ${i * i}) // ${(i * 104729).toString(36)}`
  }).join('\n')

let sessions = 0
const newSession = () => `s-${++sessions}`

describe('a result that the agent has already', () => {
  it('is one line that names its call, and means the very bytes', async () => {
    const session = newSession()
    const read = { session, content: source('a'), tool: 'Read', args: { file_path: 'src/a.ts' } }
    const first = await encode({ ...read, tool_call_id: 't1' })
    expect(first).toMatchObject({
      layer: 'L3',
      partition: 0,
      ref: expect.stringMatching(/^[0-9a-f]{8}$/),
    })
    await encode({ session, content: 'ok', tool: 'Bash', args: { command: 'ls' } })
    const again = await encode({ ...read, tool_call_id: 't2' })
    expect(again).toMatchObject({ layer: 'L0', format: 'ref@1', savings: { encoder_tokens: 0 } })
    expect(parseHint(again.content)).toMatchObject({
      family: 'reference',
      ref: first.ref,
      call: { tool: 'Read', calls_ago: 2 },
    })
    expect(await decoded(again, session)).toBe(read.content)
    const url = `${service.url}/v1/retrieve/${first.ref}?session=${session}`
    const kept = await json(fetch(url, { headers: headers(acme) }))
    expect(kept['original_content']).toBe(read.content)
  })

  it('has the same answer when its call is sent again', async () => {
    const session = newSession()
    const read = { session, content: source('r'), tool: 'Read', args: { file_path: 'r.ts' } }
    const first = await encode({ ...read, tool_call_id: 't1' })
    expect(await encode({ ...read, tool_call_id: 't1' })).toEqual(first)
    const second = await encode({ ...read, tool_call_id: 't2' })
    expect(second.layer).toBe('L0')
    expect(await encode({ ...read, tool_call_id: 't2' })).toEqual(second)
    const edited = { ...read, content: `${read.content}\nlast()`, tool_call_id: 't3' }
    const third = await encode(edited)
    expect(third.format).toMatch(/^lines@1/)
    await encode({ session, content: source('x'), tool: 'Read', args: { file_path: 'x.ts' } })
    expect(await encode(edited)).toEqual(third)
  })

  it('is said by its lines after an edit', async () => {
    const session = newSession()
    const before = source('e', 80)
    const after = before.replace('(e, 1600)', '(e, 1601)')
    const args = { file_path: '/w/e.ts' }
    await encode({ session, content: before, tool: 'Read', args })
    await encode({ session, content: 'done', tool: 'Edit', args })
    const answer = await encode({ session, content: after, tool: 'Read', args })
    expect(answer).toMatchObject({ layer: 'L0', format: 'lines@1' })
    expect(answer.content.split('\n')).toHaveLength(3)
    expect(answer.hints.map(({ family }) => family)).toEqual(['lines', 'lines'])
    expect(await decoded(answer, session)).toBe(after)
  })
})

describe('nothing is referred to', () => {
  const content = source('n')
  const read = { content, tool: 'Read', args: { file_path: './src//n.ts' } }

  it.each([
    ['in another session', async (session: string) => ({ session: `${session}-other` })],
    ['by another tenant', async () => ({ caller: beta })],
    ['that was an error', async () => ({ error: true })],
    [
      'after a compaction',
      async (session: string) => {
        expect(await send(`/v1/sessions/${session}/compaction`, {})).toEqual({
          session,
          partition: 1,
        })
        return {}
      },
    ],
    [
      'as a whole once its file is edited',
      async (session: string) => {
        await encode({ session, content: 'ok', tool: 'Write', args: { file_path: 'src/n.ts' } })
        return { whole: true }
      },
    ],
    [
      'as a whole once it was invalidated by hand',
      async (session: string) => {
        const what = { file_paths: ['src\\x\\..\\n.ts'] }
        expect(await send(`/v1/sessions/${session}/invalidate`, what)).toMatchObject({
          invalidated: 1,
        })
        return { whole: true }
      },
    ],
    ['from a sub-agent', async () => ({ sidechain: true })],
    [
      'once the session was closed',
      async (session: string) => {
        const response = await fetch(`${service.url}/v1/sessions/${session}`, {
          method: 'DELETE',
          headers: headers(acme),
        })
        expect(await response.json()).toMatchObject({ session, results: 1 })
        return {}
      },
    ],
  ] satisfies [string, (session: string) => Promise<Case>][])('%s', async (_, prepare) => {
    const session = newSession()
    const isError = _ === 'that was an error'
    await encode({ ...read, session, ...(isError ? { is_error: true } : {}) })
    const now: Case = await prepare(session)
    const answer = await encode(
      {
        ...read,
        session: now.session ?? session,
        ...(now.sidechain ? { is_sidechain: true } : {}),
      },
      now.caller,
    )
    if (now.whole) expect(answer.format).not.toBe('ref@1')
    else expect(answer.layer).toBe('L3')
  })

  it('without a tool to name it by', async () => {
    const session = newSession()
    await encode({ session, content })
    expect((await encode({ session, content })).layer).toBe('L3')
  })
})

interface Case {
  readonly session?: string
  readonly caller?: typeof acme
  readonly whole?: boolean
  readonly sidechain?: boolean
  readonly error?: boolean
}

describe('a session', () => {
  it('says what it saw and saved', async () => {
    const session = newSession()
    const read = { session, content: source('s'), tool: 'Read', args: { file_path: 's.ts' } }
    await encode(read)
    await encode(read)
    const response = await fetch(`${service.url}/v1/sessions/${session}`, {
      headers: headers(acme),
    })
    const summary = (await response.json()) as Record<string, unknown>
    expect(summary).toMatchObject({
      session,
      partition: 0,
      results: 2,
      references: { exact: 1, near: 0, lines: 0 },
      hints: { reference: 1, lines: 0 },
    })
  })

  it.each([
    ['unknown', 404],
    ['x'.repeat(10_000), 400],
    ['a%00b', 404],
  ])('that is %.20s is answered with %i', async (id, status) => {
    const response = await fetch(`${service.url}/v1/sessions/${id}`, { headers: headers(acme) })
    expect(response.status).toBe(status)
  })

  it('goes on after a restart without a reference to what was before', async () => {
    const session = newSession()
    const read = { session, content: source('k'), tool: 'Read', args: { file_path: 'k.ts' } }
    await encode(read)
    await service.close()
    service = await startTestService(settings)
    expect((await encode(read)).layer).toBe('L3')
    expect((await encode(read)).layer).toBe('L0')
  })

  it('can be asked about a content alone', async () => {
    const body = { session: newSession(), content: source('d'), tool: 'Read', args: { path: 'd' } }
    const first = await send('/v1/dedup', body)
    expect(first).toEqual({ kind: 'none', ref: first['ref'], partition: 0 })
    const second = await send('/v1/dedup', body)
    expect(second).toMatchObject({ kind: 'exact', of: first['ref'], partition: 0 })
    expect(parseHint(String(second['hint']))).toMatchObject({
      family: 'reference',
      ref: first['ref'],
    })
  })

  it('sees the effects of a batch in order', async () => {
    const body = {
      op: 'encode',
      session: newSession(),
      content: source('b'),
      tool: 'Read',
      args: { path: 'b' },
    }
    // Within one batch a body is not durable yet.
    const { results } = (await send('/v1/batch', { jobs: [body, body] })) as { results: Answer[] }
    expect(results.map(({ layer }) => layer)).toEqual(['L3', 'L3'])
    const after = (await send('/v1/batch', { jobs: [body] })) as { results: Answer[] }
    expect(after.results[0]).toMatchObject({ layer: 'L0' })
  })
})
