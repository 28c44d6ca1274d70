import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { localContext } from '../../../../support/local-context.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { call, rows, toolMessage } from './conversation.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }
const NO_TIME = { newUntil: 0 }

/** The texts of a conversation with so many results, as one process sends them. */
function conversation() {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const context = { ...localContext(), rewrites: { tenant: '', memory, recalled: {} } }
  return (results: number, terms: { readonly newUntil?: number } = {}) => {
    const all = Array.from({ length: results }, (_, seed) => rows(20, seed * 100))
    const messages = all.flatMap((text, at) => [call(`c${at}`), toolMessage(text, `c${at}`)])
    const body = bytesOf(JSON.stringify({ model: 'gpt-5', messages }))
    const asked = { redeems: false, bypass: false, ...terms }
    const sent = rewriteRequest(body, 'openai_chat', LIMITS, { ...context, terms: asked })
    for (const { position } of sent.records) memory.confirm(position!)
    const read = JSON.parse(new TextDecoder().decode(sent.bytes)) as { messages: object[] }
    const texts = read.messages.flatMap(each => ('content' in each ? (each.content ?? []) : []))
    return { texts, all, report: sent.report }
  }
}

describe('results for which there is no time', () => {
  it('stay as they are, while those before them are written as they were', () => {
    const turn = conversation()
    const one = turn(2)
    const two = turn(4, NO_TIME)
    expect(two.texts.slice(0, 2)).toEqual(one.texts)
    expect(two.texts.slice(2)).toEqual(two.all.slice(2))
    expect(two.report).toMatchObject({ rewritten: 2, late: 2, prefix_changed: false })
  })

  it('stay so in later turns, which write what is new to them', () => {
    const turn = conversation()
    const one = turn(2, NO_TIME)
    expect(one.texts).toEqual(one.all)
    const two = turn(3)
    expect(two.texts.slice(0, 2)).toEqual(one.texts)
    expect(two.texts[2]).not.toBe(two.all[2])
    expect(two.report).toMatchObject({ rewritten: 1, prefix_changed: false })
    expect(two.report.late).toBeUndefined()
  })

  it('are none while the time lasts', () => {
    const { report } = conversation()(2, { newUntil: Date.now() + 3_600_000 })
    expect(report).toMatchObject({ rewritten: 2 })
    expect(report.late).toBeUndefined()
  })
})
