import { describe, expect, it } from 'vitest'
import {
  type AgentContext,
  AgentContexts,
  type GivenResult,
  identityOf,
} from '../../../../src/core/verify/agent-contexts.ts'
import { exchange } from './hand-written.ts'

const LONG = 'words of a file '.repeat(20)

/** A result of the tool `Read`. */
function result(content: string): GivenResult {
  const request = { tool: 'Read', content }
  return { ...exchange(request, content), request, identity: identityOf(content) }
}

const write = (text: string) => ({ tool: 'Write', args: { content: text }, content: 'done' })

/** Names and positions of the texts that a context has. */
const namesIn = ({ texts }: AgentContext) => texts.map(({ name, position }) => [name, position])

/** One result, a refused call, two results. */
function filled(): AgentContext {
  const context = new AgentContexts().of({ session: 's' })
  context.addResult(result('first'))
  context.addRefused(write(LONG))
  context.addResult(result('second'))
  context.addResult(result('third'))
  return context
}

describe('a context before one of its results', () => {
  it('counts the calls up to it, refused ones too', () => {
    const context = filled()
    expect([0, 1, 2].map(index => context.before(index).calls)).toEqual([0, 2, 3])
    expect(context.calls).toBe(4)
  })

  it('has the texts up to it, at the calls that they had', () => {
    const context = filled()
    expect(namesIn(context.before(0))).toEqual([])
    expect(namesIn(context.before(2))).toEqual(namesIn(context).slice(0, 3))
    expect(namesIn(context.before(2))).toEqual([
      ['Read', 0],
      ['Write.content', 1],
      ['Read', 2],
    ])
  })

  it('stays as it is when results come', () => {
    const context = filled()
    const before = context.before(1)
    context.addResult(result('fourth'))
    expect(before.results.map(({ request }) => request.content)).toEqual(['first'])
    before.addResult(result('fifth'))
    expect(context.calls).toBe(5)
  })
})

describe('contexts', () => {
  const agent = { session: 's' }
  const subAgent = { session: 's', is_sidechain: true }

  it('are one for an agent, one for its sub-agents, and one for each other session', () => {
    const contexts = new AgentContexts()
    contexts.of(agent).addResult(result('first'))
    expect(contexts.of({ session: 's', is_sidechain: false }).calls).toBe(1)
    expect(contexts.of(subAgent).calls).toBe(0)
    expect(contexts.of({ session: 't' }).calls).toBe(0)
    contexts.of(subAgent).addResult(result('second'))
    expect([contexts.of(agent).calls, contexts.of(subAgent).calls]).toEqual([1, 1])
  })

  it('are new for every request without a session', () => {
    const contexts = new AgentContexts()
    contexts.of({}).addResult(result('first'))
    expect(contexts.of({}).calls).toBe(0)
  })

  it('begin anew with a compaction, in the next partition, but not for sub-agents', () => {
    const contexts = new AgentContexts()
    contexts.of(agent).addResult(result('first'))
    contexts.of(subAgent).addResult(result('second'))
    contexts.compact('s')
    expect(contexts.of(agent)).toMatchObject({ partition: 1, calls: 0 })
    expect(contexts.of(agent).before(0).partition).toBe(1)
    expect(contexts.of(subAgent)).toMatchObject({ partition: 0, calls: 1 })
    contexts.compact('s')
    expect(contexts.of(agent).partition).toBe(2)
  })

  it('are forgotten once their session is closed, a sub-agent’s too', () => {
    const contexts = new AgentContexts()
    contexts.compact('s')
    contexts.of(agent).addResult(result('first'))
    contexts.of(subAgent).addResult(result('second'))
    contexts.of({ session: 't' }).addResult(result('third'))
    contexts.close('s')
    expect(contexts.of(agent)).toMatchObject({ partition: 0, calls: 0, texts: [] })
    expect(contexts.of(subAgent)).toMatchObject({ partition: 0, calls: 0, texts: [] })
    expect(contexts.of({ session: 't' }).calls).toBe(1)
  })
})

describe('a text', () => {
  it('is found by eight digits of its identity, or more', () => {
    const context = filled()
    const identity = identityOf('second')
    for (const digits of [8, 9, 63, 64]) {
      expect(context.find(identity.slice(0, digits)).map(({ content }) => content)).toEqual([
        'second',
      ])
    }
    expect(context.find(`${identity.slice(0, 8)}${'0'.repeat(8)}`)).toEqual([])
    expect(context.find('0'.repeat(8))).toEqual([])
  })

  it('is found as often as it was given', () => {
    const context = filled()
    context.addResult(result('second'))
    expect(context.find(identityOf('second').slice(0, 8)).map(({ position }) => position)).toEqual([
      2, 4,
    ])
  })

  it('that a call without a tool gives is none to refer to', () => {
    const context = new AgentContexts().of({})
    context.addCall({ args: { content: LONG }, content: 'done' })
    context.addCall({ tool: '', args: { content: LONG }, content: 'done' })
    expect(context.texts).toEqual([])
  })
})
