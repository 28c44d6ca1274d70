import { describe, expect, it } from 'vitest'
import type { EncodeAnswer } from '../../../../../src/core/contract/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { memoryStore } from '../../../../support/memory-store.ts'
import { sessionApp } from '../../../../support/session-app.ts'

const pipeline = pipelineSchema.parse({ hints: { types: { search_chain: {} } } })
const open = () => sessionApp({ ...memoryStore(), pipeline })

/** A table of hits, which is written in fewer tokens, and takes many still. */
function hits(id: number): string {
  return Array.from({ length: 40 }, (_, hit) => {
    return `/src/deep/folder/module${id}.ts:${hit}: value ${hit * id}`
  }).join('\n')
}

/** The call of this number: `S` searches, `O` does something else. */
function call(kind: string, id: number) {
  const tool = kind === 'S' ? 'code__search' : 'Read'
  return { session: 's', tool_call_id: `t${id}`, tool, args: { id }, content: hits(id) }
}

async function play(app: ReturnType<typeof open>, kinds: string): Promise<EncodeAnswer[]> {
  const answers = []
  for (const [i, kind] of [...kinds].entries()) answers.push(await app.encode(call(kind, i + 1)))
  return answers
}

const notesIn = ({ hints }: EncodeAnswer) =>
  hints.filter(({ family }) => family === 'search_chain').map(({ text }) => text)

const NOTE = '> [5 of 7 calls searched. read what they found]'

describe('in a session', () => {
  it.each([
    ['SSOOSSS', 7],
    ['SOOSSSOS', 0],
    ['SSSS', 0],
    ['SSSSO', 0],
    ['SSSSOS', 6],
  ])('after %s, the note is beside call %d', async (kinds, at) => {
    const answers = await play(open(), kinds)
    const expected = answers.map((_, i) => (i + 1 === at ? [NOTE] : []))
    expect(answers.map(notesIn)).toEqual(expected)
  })

  it('a retry has the note that its call had, and decodes', async () => {
    const app = open()
    const first = await play(app, 'SSSSSSS')
    expect(first.map(notesIn)).toEqual([[], [], [], [], [NOTE], [], []])
    expect(await play(app, 'SSSSSSS')).toEqual(first)
    expect(await app.decode(first[4]!, 's')).toBe(hits(5))
  })
})

it('the note is before the marker if parts are left out', async () => {
  const app = open()
  await play(app, 'SSSS')
  const log = Array.from({ length: 400 }, (_, i) => {
    return `2026-01-02T10:00:${i % 60} INFO request ${i * 7} of client ${i % 9} was served in ${i} ms`
  })
  const answer = await app.encode({
    ...call('S', 5),
    content: log.join('\n'),
    mode: 'elide',
    min_saved_tokens: 0,
  })
  expect(answer.hints.map(({ family }) => family)).toEqual(['search_chain', 'elision'])
  expect(answer.content.split('\n').slice(-2)).toEqual(answer.hints.map(({ text }) => text))
})

const noise = Array.from({ length: 99 }, (_, i) => `${Math.sin(i)}`.slice(3)).join(' ')

it.each([
  ['saves less than a few notes take', `${noise}\n${'the same line of a file\n'.repeat(9)}`],
  ['takes hardly any tokens', 'the same line of a file\n'.repeat(300)],
])('an answer that %s has no note', async (_, content) => {
  const app = open()
  await play(app, 'SSSS')
  const answer = await app.encode({ ...call('S', 5), content })
  expect(answer.hints).toEqual([])
  expect(answer.tokens.final).toBeLessThan(answer.tokens.baseline - 20)
})

it.each([
  ['a budget', { budget_tokens: 5_000 }],
  ['an error', { is_error: true }],
  ['a sub-agent', { is_sidechain: true }],
])('%s has no note', async (_, fields) => {
  const app = open()
  await play(app, 'SSSS')
  expect((await app.encode({ ...call('S', 5), ...fields })).hints).toEqual([])
  // The next call is told all the same.
  expect(notesIn(await app.encode(call('S', 6)))).toHaveLength(1)
})
