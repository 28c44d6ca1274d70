import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { createHeadMemory } from '../../../../../src/core/conversation/prefix/head-memory.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { bytesOf } from '../../../../support/runner.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const ID = ['6f1c2a34-9a8b-4c1d-8e2f-001122334455', '00112233-9a8b-4c1d-8e2f-001122334455'] as const
const LONG = 'You are a careful assistant. '.repeat(40)

function watcher(route: RouteName = 'anthropic_messages') {
  const memory = createHeadMemory()
  return (body: object, { tenant = 't', key = 'k' } = {}) => {
    const scanned = scanRequest(bytesOf(JSON.stringify(body)), route, LIMITS)
    return memory.see(scanned!, { tenant, key })
  }
}

const user = (content: unknown) => ({ role: 'user', content })
const said = (content: string) => ({ role: 'assistant', content })
const tool = (name: string, fields: object = {}) => ({ name, input_schema: {}, ...fields })

/** A request of a conversation after so many turns. */
function turn(turns: number, fields: object = {}, first: unknown = 'Go.') {
  const more = Array.from({ length: turns }, (_, i) => [said(`Step ${i}`), user(`More ${i}`)])
  const messages = [user(first), ...more.flat()]
  return { model: 'claude-x', tools: [tool('a'), tool('b')], system: LONG, messages, ...fields }
}

describe('what changed before a conversation', () => {
  it('is nothing if it stays, turn by turn and conversation by conversation', () => {
    const see = watcher()
    for (let i = 0; i < 5; i++) expect(see(turn(i))).toBeNull()
    for (let i = 0; i < 5; i++) expect(see(turn(i, {}, 'Something else.'))).toBeNull()
  })

  it('is nothing if cache breakpoints move', () => {
    const see = watcher()
    const ends = { cache_control: { type: 'ephemeral' } }
    const text = (more: object) => [{ type: 'text', text: 'Go.', ...more }]
    see(turn(1, { system: [{ type: 'text', text: LONG, ...ends }] }, text(ends)))
    expect(see(turn(2, { system: [{ type: 'text', text: LONG }] }, text({})))).toBeNull()
    see(turn(3, { tools: [tool('a'), tool('b', ends)], system: LONG }, text({})))
  })

  it('is each kind that differs in each place', () => {
    const see = watcher()
    const at = (day: number) => ({
      tools: [tool('a', { description: `Of ${ID[day]}` })],
      system: `Today is 2026-01-0${day + 1}. Session ${ID[day]}. ${LONG}`,
    })
    see(turn(1, at(0)))
    expect(see(turn(2, at(1)))).toMatchObject({
      ...{ place: 'tools', kind: 'uuid', scope: 'conversation' },
      also: [
        { place: 'system', kind: 'date' },
        { place: 'system', kind: 'uuid' },
      ],
    })
  })

  it.each([
    ['tools', (id: string) => ({ tools: [tool('a', { description: `Of ${id}` })] })],
    ['system', (id: string) => ({ system: `${LONG} Session: ${id}` })],
    ['system', (id: string) => ({ system: [{ type: 'text', text: `${id}. ${LONG}` }] })],
  ])('is found in %s, in the conversation and in the next one', (place, fields) => {
    const see = watcher()
    see(turn(1, fields(ID[0])))
    expect(see(turn(2, fields(ID[1])))).toMatchObject({
      place,
      kind: 'uuid',
      scope: 'conversation',
    })
    expect(see(turn(0, fields(ID[0]), 'Other.'))).toMatchObject({
      place,
      kind: 'uuid',
      scope: 'key',
    })
  })

  it('is found in the first message of the conversation', () => {
    const see = watcher()
    see(turn(1, {}, `Id ${ID[0]}. Go.`))
    const change = see(turn(2, {}, `Id ${ID[1]}. Go.`))
    expect(change).toEqual({ place: 'first_message', kind: 'uuid', scope: 'conversation', at: 29 })
  })

  it('is the order of tools if nothing else is', () => {
    const see = watcher()
    see(turn(1))
    const change = see(turn(2, { tools: [tool('b'), tool('a')] }))
    expect(change).toMatchObject({ place: 'tools', kind: 'tool_order' })
    expect(see(turn(3, { tools: [tool('b'), tool('c')] }))).toMatchObject({ kind: 'other' })
  })

  it.each([
    ['another tenant', { tenant: 'u' }],
    ['another key', { key: 'l' }],
  ])('is not told of %s', (_, whose) => {
    const see = watcher()
    see(turn(0, { system: `${LONG} ${ID[0]}` }))
    expect(see(turn(0, { system: `${LONG} ${ID[1]}` }, 'Other.'), whose)).toBeNull()
  })

  it('is not told of agents with other instructions', () => {
    const see = watcher()
    see(turn(0))
    expect(see(turn(0, { system: 'You find titles.', tools: [] }, 'Other.'))).toBeNull()
  })

  it('is found in the instructions of Chat and Responses', () => {
    const chat = watcher('openai_chat')
    const ofChat = (id: string, turns: number) => ({
      messages: [{ role: 'system', content: `${LONG} ${id}` }, ...turn(turns).messages],
    })
    chat(ofChat(ID[0], 1))
    expect(chat(ofChat(ID[1], 2))).toMatchObject({ place: 'system', kind: 'uuid' })
    const responses = watcher('openai_responses')
    const ofResponses = (id: string, turns: number) => ({
      instructions: `${LONG} ${id}`,
      input: turn(turns).messages,
    })
    responses(ofResponses(ID[0], 1))
    expect(responses(ofResponses(ID[1], 2))).toMatchObject({ place: 'system', kind: 'uuid' })
  })

  it.each([
    ['no tools', { tools: undefined }],
    ['tools that are no list', { tools: 'none' }],
    ['instructions that are a number', { system: 7 }],
    ['parts that are texts', { system: ['a', 'b'] }],
  ])('is found with %s as before it', (_, fields) => {
    const see = watcher()
    expect(see(turn(1, fields))).toBeNull()
    expect(see(turn(2, fields))).toBeNull()
    expect(see(turn(3))).toMatchObject({ scope: 'conversation' })
  })

  it('is found some turns late if much stands there, with 10,000 tools', () => {
    const see = watcher()
    const tools = Array.from({ length: 10_000 }, (_, i) => tool(`t${i}`))
    const changed = [...tools.slice(1), tool('last')]
    for (let i = 1; i < 4; i++) expect(see(turn(i, { tools }))).toBeNull()
    const found = Array.from({ length: 12 }, (_, i) => see(turn(i + 4, { tools: changed })))
    expect(found.filter(each => each !== null)).toMatchObject([{ place: 'tools', kind: 'other' }])
  })

  it('is told three times of one conversation', () => {
    const see = watcher()
    const found = Array.from({ length: 9 }, (_, i) => see(turn(i + 1, { system: `${LONG} ${i}` })))
    expect(found.filter(each => each !== null)).toHaveLength(3)
  })
})

describe('a text that conversations have behind different beginnings', () => {
  const paper = Array.from(
    { length: 120 },
    (_, n) => `Line ${n} of what all of them read: ${n * 7919}.`,
  )
  const text = paper.join('\n')
  const open = (first: string, fields: object = {}) => turn(0, fields, first)

  it('is told of their openings, of whatever key they are', () => {
    const see = watcher()
    expect(see(open(`You are the first reader. ${text}`))).toBeNull()
    const second = open(`As the second one, read on to the end. ${text}`)
    expect(see(second, { key: 'other' })).toEqual({
      ...{ place: 'first_message', kind: 'equal_text', scope: 'openings' },
      at: expect.any(Number),
    })
    // It is the same conversation now.
    expect(see(second, { key: 'other' })).toBeNull()
    expect(see(open(`A third. ${text}`), { tenant: 'u' })).toBeNull()
  })

  it('is told if it is at the same place, and nothing if they begin with it', () => {
    const see = watcher()
    see(open(`${text} First question.`))
    expect(see(open(`${text} Second question, and longer.`))).toBeNull()
    const other = watcher()
    other(open(`Reader one: ${text}`))
    expect(other(open(`Reader two: ${text}`))).toMatchObject({ kind: 'equal_text' })
  })

  it('is nothing if it is short, or a conversation has nothing of it', () => {
    const see = watcher()
    const short = text.slice(0, 3_000)
    see(open(`First. ${short}${'a'.repeat(9_000)}`))
    expect(see(open(`The second. ${short}${'b'.repeat(9_000)}`))).toBeNull()
    expect(see(open('c'.repeat(20_000)))).toBeNull()
  })

  it('is found in the place where it begins', () => {
    const see = watcher()
    see(open('Go.', { system: `Be kind. ${text}` }), { key: 'a' })
    expect(see(open(`Then go. ${text}`, { system: 'Be brief.' }), { key: 'b' })).toMatchObject({
      place: 'first_message',
      kind: 'equal_text',
    })
  })
})
