import { hash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parseHint } from '../../../src/core/hints/hint-line.ts'
import { type ProxiedReplicas, startReplicas } from './proxied-replicas.ts'

const clearing = (excluded: string) => `[clearing]\nenabled = true\nexclude = ["${excluded}"]\n`

describe.skipIf(process.env['TEST_WITHOUT_REDIS'] === '1')('two replicas that clear', () => {
  let replicas: ProxiedReplicas

  // As while a new configuration is rolled out: each alone would clear other results.
  beforeAll(async () => {
    replicas = await startReplicas([clearing('none'), clearing('Grep')])
  })
  afterAll(() => replicas.close())

  const NAMES = Array.from({ length: 2 }, (_, i) => `conversation ${i}`)
  /** So many results that a step has paid. */
  const FIRST = 100
  const LAST = 103

  /** Lines that no format makes smaller. */
  const page = (name: string, turn: number) =>
    Array.from({ length: 60 }, (_, i) => hash('sha256', `${name} ${turn} ${i}`, 'base64url'))

  /** Every fourth result is the one before once more, so that it becomes a reference. */
  const textOf = (name: string, turn: number) =>
    page(name, turn % 4 === 3 ? turn - 1 : turn).join('\n')

  function bodyOf(name: string, turns: number): string {
    const messages = Array.from({ length: turns }, (_, turn) => {
      const input = { file_path: `/src/${turn}.ts` }
      const content = textOf(name, turn)
      const tool = turn % 2 === 0 ? 'Read' : 'Grep'
      return [
        { role: 'assistant', content: [{ type: 'tool_use', id: `t${turn}`, name: tool, input }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: `t${turn}`, content }] },
      ]
    }).flat()
    const tools = ['Read', 'Grep', 'haversack_retrieve'].map(each => ({
      name: each,
      input_schema: {},
    }))
    return JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages })
  }

  const sendThrough = (at: number, name: string, turns: number) =>
    replicas.sendThrough(at, bodyOf(name, turns))
  /** A turn of each conversation, through both at the same moment. */
  const sendToBoth = (turns: number) =>
    Promise.all(NAMES.map(name => Promise.all([0, 1].map(at => sendThrough(at, name, turns)))))

  interface Message {
    readonly content: readonly { readonly content?: string }[]
  }

  function textsOf(body: string): readonly string[] {
    const { messages } = JSON.parse(body) as { messages: readonly Message[] }
    return messages.flatMap(each => each.content.flatMap(({ content }) => content ?? []))
  }

  const stubOf = (text: string) => {
    const hint = parseHint(text)
    return hint?.family === 'elision' ? /hash=([0-9a-f]{24})/.exec(text)![1]! : null
  }
  const stubsOf = (texts: readonly string[]) => texts.filter(text => stubOf(text) !== null).length

  it('send the same, though each alone would clear other results', async () => {
    const alone = await Promise.all([0, 1].map(at => sendThrough(at, `alone ${at}`, FIRST)))
    const [one, two] = alone.map(body => stubsOf(textsOf(body)))
    expect(one).toBeGreaterThan(two!)

    // What the first has cleared holds for the second.
    await Promise.all(NAMES.map(name => sendThrough(0, name, FIRST)))
    const before = new Map<string, readonly string[]>()
    let steps = 0
    for (let turns = FIRST; turns <= LAST; turns++) {
      for (const [at, [first, second]] of (await sendToBoth(turns)).entries()) {
        expect(first === second).toBe(true)
        const texts = textsOf(first!)
        const known = before.get(NAMES[at]!) ?? []
        // The prefix changes at steps only, and what was cleared does not come back.
        if (stubsOf(texts) !== stubsOf(known)) steps++
        else expect(texts.slice(0, -1)).toEqual(known)
        const isStub = (text: string) => stubOf(text) !== null
        expect(known.every((text, i) => !isStub(text) || texts[i] === text)).toBe(true)
        before.set(NAMES[at]!, texts)
      }
    }
    // The first turn of each.
    expect(steps).toBe(NAMES.length)
    expect([...before.values()].flat().some(text => text.startsWith('> [ref '))).toBe(true)
  })

  it('keep what they cleared, for the agents of either', async () => {
    for (const [i, name] of NAMES.entries()) {
      const texts = textsOf(await sendThrough(i % 2, name, LAST))
      expect(stubsOf(texts)).toBeGreaterThan(2)
      for (const [turn, text] of texts.entries()) {
        const digest = stubOf(text)
        if (digest === null) continue
        const { url } = replicas.services[(i + turn) % 2]!
        const answer = await fetch(`${url}/v1/retrieve/${digest}`)
        expect(await answer.json()).toMatchObject({ original_content: textOf(name, turn) })
      }
    }
  })
})
