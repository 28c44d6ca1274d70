import { describe, expect, it } from 'vitest'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { memoryStore } from '../../../../support/memory-store.ts'
import { sessionApp, sourceText } from '../../../../support/session-app.ts'
import { someOf } from '../../../../support/short-runs.ts'

const open = (options: Partial<Parameters<typeof sessionApp>[0]> = {}) =>
  sessionApp({ ...memoryStore(), ...options })
type App = ReturnType<typeof open>

const session = 's'
const read = (name: string, tool_call_id: string, content = sourceText(name)) => {
  return { session, content, tool: 'Read', args: { file_path: `${name}.ts` }, tool_call_id }
}
const edit = (name: string) => {
  return { session, content: 'done', tool: 'Edit', args: { file_path: `${name}.ts` } }
}
const near = (n: number) => JSON.stringify({ n, rest: sourceText('near') })
const NEAR = pipelineSchema.parse({ dedup: { near_ref_enabled: true } })

/** Each brings a session to where a call is answered in its way; gives that call. */
const KINDS: readonly [string, (app: App) => Promise<object>, string][] = [
  ['by itself', async () => read('a', 't1'), 'passthrough'],
  [
    'by a reference',
    async app => {
      await app.encode(read('a', 't1'))
      return read('a', 't2')
    },
    'ref@1',
  ],
  [
    'by lines',
    async app => {
      await app.encode(read('a', 't1'))
      return read('a', 't2', `first()\n${sourceText('a')}`)
    },
    'lines@1',
  ],
  [
    'by what changed',
    async app => {
      await app.encode(read('a', 't1', near(1)))
      return read('a', 't2', near(2))
    },
    'changes@1',
  ],
  [
    'in part',
    async app => {
      await app.encode(read('a', 't1', 'of no use\n'.repeat(20)))
      return { ...read('a', 't2'), mode: 'trim', budget_tokens: 300 }
    },
    'trimmed@1',
  ],
  [
    'in part beside references',
    async app => {
      const failures = Array.from(
        { length: 8 },
        (_, i) => `ERROR ${'abcdefgh'[i]!.repeat(40)} failed`,
      )
      const done = (i: number) => `12:00:07 INFO request ${i * 7919} took ${i % 9} ms`
      const reports = Array.from({ length: 90 }, (_, i) => done(i))
      await app.encode({ ...read('a', 't1', failures.join('\n')), formats: ['passthrough'] })
      return {
        ...read('a', 't2', [...failures, ...reports].join('\n')),
        response_budget: 'compact',
      }
    },
    'trimmed@1;lines@1',
  ],
  ['as too short to be recorded', async () => read('a', 't1', 'short'), 'passthrough'],
]

/** What may happen between a call and its retry. */
const MEANWHILE: readonly [string, (app: App) => Promise<unknown>][] = [
  ['nothing', async () => {}],
  ['its file is edited', app => app.encode(edit('a'))],
  [
    'it is evicted',
    async app => {
      for (let i = 0; i < 20; i++) await app.encode(read(`other${i}`, `o${i}`))
    },
  ],
  ['the same comes again', app => app.encode(read('a', 't9'))],
  ['most of it comes again', app => app.encode(read('a', 't9', `${sourceText('a')}\nlast()`))],
]

describe.each(KINDS)('a call answered %s', (_, prepare, format) => {
  it.each(someOf(MEANWHILE, 2))(
    'has the same answer again when meanwhile %s',
    async (_name, meanwhile) => {
      const app = open({ pipeline: NEAR })
      const request = await prepare(app)
      const first = await app.encode(request)
      expect(first.format).toContain(format)
      await meanwhile(app)
      const before = await app.call('GET', `/v1/sessions/${session}`)
      expect(await app.encode(request)).toEqual(first)
      const after = await app.call('GET', `/v1/sessions/${session}`)
      expect(after).toMatchObject({
        results: (before as { results: number }).results,
        references: (before as { references: object }).references,
        hints: (before as { hints: object }).hints,
      })
    },
  )
})

it('a call that came twice is one call to a reader who counts', async () => {
  const app = open()
  await app.encode(read('a', 't1'))
  const small = { session, content: 'ok', tool: 'Bash', tool_call_id: 't2' }
  await app.encode(small)
  await app.encode(small)
  const odd = { session, content: '\ud800', tool: 'Bash', tool_call_id: 't3' }
  await app.encode(odd)
  await app.encode(odd)
  const refused = { ...read('b', 't4'), budget_tokens: 3 }
  expect(await app.encode(refused)).toMatchObject({ code: 'budget_too_small' })
  expect(await app.encode(refused)).toMatchObject({ code: 'budget_too_small' })
  expect((await app.encode(read('a', 't5'))).content).toContain('Read 4 calls ago')
})

it('a call that is sent again for another budget gets what fits it, and no reference to itself', async () => {
  const app = open()
  await app.encode(read('a', 't1'))
  const changed = read('a', 't2', `first()\n${sourceText('a')}`)
  expect((await app.encode(changed)).layer).toBe('L0')
  await app.encode(edit('a'))
  const other = await app.encode({ ...changed, mode: 'trim', budget_tokens: 200 })
  expect(other.tokens.final).toBeLessThanOrEqual(200)
  expect(other.content).not.toContain(`${changed.tool} 0`)
  const plain = await app.encode({ ...changed, tokenizer: 'cl100k_base' })
  expect(plain.hints.every(({ text }) => !text.includes('-'))).toBe(true)
  expect(plain.tokens.tokenizer).toBe('cl100k_base')
})

it('a retry with as many hints as are allowed in a session has them too', async () => {
  const pipeline = pipelineSchema.parse({ hints: { types: { metadata: { max_per_session: 1 } } } })
  const app = open({ pipeline })
  const rows = JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, state: 'open' })))
  const page = { ...read('a', 't1', rows), pagination: { total: 900, returned: 40 } }
  const first = await app.encode(page)
  expect(first.hints).toHaveLength(1)
  expect(await app.encode(page)).toEqual(first)
  const next = { ...page, tool_call_id: 't2', content: rows.replaceAll('open', 'shut') }
  expect((await app.encode(next)).hints).toHaveLength(0)
})

it.each([
  ['exact', read('a', 't2')],
  ['near', read('b', 't2', near(2))],
] as const)('asks about %s content get the same answer', async (kind, request) => {
  const app = open({ pipeline: NEAR })
  await app.encode(read('a', 't1'))
  await app.encode(read('b', 't3', near(1)))
  const { session, content, tool, args, tool_call_id } = request
  const first = await app.dedup({ session, content, tool, args, tool_call_id })
  expect(first.kind).toBe(kind)
  await app.encode(edit('b'))
  expect(await app.dedup({ session, content, tool, args, tool_call_id })).toEqual(first)
})

it('a retry after a compaction refers to nothing from before', async () => {
  const app = open()
  await app.encode(read('a', 't1'))
  expect((await app.encode(read('a', 't2'))).layer).toBe('L0')
  await app.post('/v1/sessions/s/compaction', {})
  expect(await app.encode(read('a', 't2'))).toMatchObject({ layer: 'L3', partition: 1 })
})
