import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { createLocalSessions } from '../../../../../src/library/local-sessions.ts'
import { localContext } from '../../../../support/local-context.ts'
import { memoryStore } from '../../../../support/memory-store.ts'
import { sessionApp, sourceText } from '../../../../support/session-app.ts'
import { twins } from '../../../../support/twins.ts'
import { inlineStore } from '../../../store/inline-store.ts'

const session = 's'
const read = (name: string, content = sourceText(name)) => {
  return { session, content, tool: 'Read', args: { file_path: `${name}.ts` } }
}
const changed = (name: string) => read(name, `first()\n${sourceText(name)}`)

function open(options: Partial<Parameters<typeof sessionApp>[0]> = {}) {
  const { store, clock } = memoryStore()
  return { store, clock, ...sessionApp({ store, clock, ...options }) }
}

const HOUR = 3_600_000

describe('what is not there is not referred to', () => {
  it.each([
    ['after a purge', (app: ReturnType<typeof open>) => app.store.purgeTenant('acme')],
    [
      'once its life is over',
      ({ clock }: ReturnType<typeof open>) => {
        clock.now += 3 * HOUR
      },
    ],
  ])('%s, and it is referred to again once it came again', async (_, lose) => {
    const app = open()
    await app.encode(read('a'))
    // The store was just asked for it.
    expect((await app.encode(read('a'))).layer).toBe('L0')
    expect((await app.encode(changed('a'))).layer).toBe('L0')
    lose(app)
    const lines = await app.encode(read('a', `other()\n${sourceText('a')}`))
    expect(lines).toMatchObject({ layer: 'L3', partition: 0 })
    expect(lines).not.toHaveProperty('ref')
    // What else was lost is found out one by one.
    let again = await app.encode(read('a'))
    for (let i = 0; i < 3 && again.layer !== 'L0'; i++) again = await app.encode(read('a'))
    expect(again.layer).toBe('L0')
    expect(await app.decode(again, session)).toBe(sourceText('a'))
  })

  it('where it could not be kept, and no ref is said', async () => {
    const app = open()
    app.mishaps.put = 'full'
    const first = await app.encode({ ...read('a'), tool_call_id: 't1' })
    expect(first).toMatchObject({ layer: 'L3', content: sourceText('a') })
    expect(first).not.toHaveProperty('ref')
    app.mishaps.put = null
    // The same answer, though it could be kept now.
    expect(await app.encode({ ...read('a'), tool_call_id: 't1' })).toEqual(first)
    expect(await app.encode(read('a'))).toMatchObject({ layer: 'L3', ref: expect.any(String) })
    expect((await app.encode(read('a'))).content).toContain('Read 1 call ago')
  })

  it('while it cannot be kept on; the first answer is the answer again afterwards', async () => {
    const app = open()
    const request = { ...read('a'), tool_call_id: 't1' }
    const first = await app.encode(request)
    app.mishaps.put = 'full'
    expect(await app.encode(request)).not.toHaveProperty('ref')
    app.mishaps.put = null
    expect(await app.encode(request)).toEqual(first)
  })

  it('where arguments could not be kept', async () => {
    const app = open()
    app.mishaps.put = 'full'
    const args = { file_path: 'w.ts', content: sourceText('w') }
    await app.encode({ session, content: 'done', tool: 'Write', args })
    app.mishaps.put = null
    expect((await app.encode(changed('w'))).layer).toBe('L3')
    await app.encode({ session, content: 'done', tool: 'Write', args })
    const answer = await app.encode(changed('w'))
    expect(answer.content).toContain('Write.content')
    expect(answer.layer).toBe('L0')
    expect(await app.decode(answer, session)).toBe(changed('w').content)
  })

  it.each(['compaction', 'close'])('after a %s that was answered before it left', async event => {
    const app = open()
    await app.encode(read('a'))
    app.mishaps.beforeKept = async () => {
      app.mishaps.beforeKept = async () => {}
      if (event === 'close') await app.call('DELETE', `/v1/sessions/${session}`)
      else await app.post(`/v1/sessions/${session}/compaction`, {})
    }
    expect(await app.encode(changed('a'))).toMatchObject({
      layer: 'L3',
      content: changed('a').content,
      partition: event === 'close' ? 0 : 1,
    })
  })
})

it('where one answer of a batch cannot be kept, all are given without the session', async () => {
  const app = open()
  await app.encode(read('a'))
  app.mishaps.put = 'busy'
  const jobs = [read('a'), changed('a'), read('a')].map(job => ({ op: 'encode', ...job }))
  const { results } = (await app.post('/v1/batch', { jobs })) as { results: object[] }
  expect(results).toMatchObject(jobs.map(({ content }) => ({ ok: true, layer: 'L3', content })))
  for (const result of results) expect(result).not.toHaveProperty('ref')
})

it('duplicates in a batch are the same call where they say so', async () => {
  const app = open()
  const job = { op: 'encode', ...read('a'), tool_call_id: 't1' }
  const jobs = [job, job, { ...job, tool_call_id: 't2' }]
  const batch = async () =>
    ((await app.post('/v1/batch', { jobs })) as { results: object[] }).results
  const [one, two] = await batch()
  expect(two).toEqual(one)
  expect((await app.call('GET', '/v1/sessions/s')) as object).toMatchObject({ results: 2 })
})

describe('a thread that is lost after it recorded a result', () => {
  it.each([['t1'], [undefined]])('costs nothing but time (call %s)', async tool_call_id => {
    const app = open()
    const named = tool_call_id === undefined ? {} : { tool_call_id }
    await app.encode(read('a'))
    app.mishaps.lost = 1
    // The batch is sent again: it was not known to be to blame.
    const answer = await app.encode({ ...changed('a'), ...named })
    expect(answer.content).toContain('Read 1 call ago')
    expect(await app.call('GET', '/v1/sessions/s')).toMatchObject({ results: 2 })
    expect(await app.original(answer.ref!, session)).toBe(changed('a').content)
    const next = await app.encode(changed('a'))
    // The answer before had its lines as a reference.
    expect(next.content).toMatch(/^first\(\)\n> \[ref \w+.*Read 2 calls ago/)
    expect(await app.decode(next, session)).toBe(changed('a').content)
  })
})

describe('two bodies whose ids begin alike', () => {
  const rest = sourceText('twin', 16)
  const [one, two] = twins(i => rest.replaceAll(/^/gm, `${i} `), [54_520, 57_816])

  it('the first keeps the short reference, the other one gets a longer one', async () => {
    const app = sessionApp(await inlineStore())
    const first = await app.encode(read('a', one))
    // Until the store says so, nobody knows that the short one is taken.
    expect(await app.encode(read('b', two))).not.toHaveProperty('ref')
    const third = await app.encode(read('b', two))
    expect(third).toMatchObject({ ref: hash('sha256', two).slice(0, 24) })
    expect(await app.original(first.ref!, session)).toBe(one)
    expect(await app.original(third.ref!, session)).toBe(two)
    const again = await app.encode(read('b', two))
    expect(again).toMatchObject({ layer: 'L0', content: expect.stringContaining(third.ref!) })
    expect(await app.decode(again, session)).toBe(two)
    const before = await app.encode(read('a', one))
    expect(before.content).toMatch(new RegExp(`^> \\[ref ${first.ref!}[ \\]]`))
    expect(await app.decode(before, session)).toBe(one)
  })

  it('lines of both in one answer are those of each', async () => {
    const app = sessionApp(await inlineStore())
    const [left, right] = twins(
      i => sourceText('line', 16).replaceAll(/^/gm, `${i} `),
      [29_472, 70_402],
    )
    await app.encode(read('a', left))
    await app.encode(read('b', right))
    await app.encode(read('b', right))
    const both = `first()\n${left}\n${right}`
    const answer = await app.encode(read('c', both))
    expect(answer.layer).toBe('L0')
    const refs = [...answer.content.matchAll(/^> \[ref (\w+) /gm)].map(([, ref]) => ref)
    expect(refs.map(ref => ref!.length).toSorted((a, b) => a - b)).toEqual([8, 24])
    expect(await app.decode(answer, session)).toBe(both)
  })

  it('so it is in one process', () => {
    const sessions = createLocalSessions(localContext(), { bodyBytes: 1 << 20 })
    const first = sessions.encode(read('a', one))
    sessions.encode(read('b', two))
    const third = sessions.encode(read('b', two))
    expect(third.ref).toHaveLength(24)
    const again = sessions.encode(read('b', two))
    expect(again.layer).toBe('L0')
    expect(sessions.decode({ content: again.content, format: again.format, session }).content).toBe(
      two,
    )
    expect(sessions.original(first.ref!, session)).toBe(one)
    expect(sessions.original(third.ref!, session)).toBe(two)
  })
})

describe('a client of another tenant', () => {
  it('sees nothing of a session with the same name and bodies', async () => {
    const app = open()
    const first = await app.encode(read('a'))
    const answer = await app.encode(read('a'))
    expect((await app.encode(read('a'), 1)).layer).toBe('L3')
    const other = await app.encode(read('b'), 1)
    expect(await app.decode(answer, session, 1)).toBe(sourceText('a'))
    expect(await app.original(first.ref!, session, 1)).toBe(sourceText('a'))
    expect(await app.original(other.ref!, session, 0)).toBeUndefined()
    expect(await app.call('GET', '/v1/sessions/s', undefined, 1)).toMatchObject({ results: 2 })
  })
})
