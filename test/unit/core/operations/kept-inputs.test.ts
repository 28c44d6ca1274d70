import { describe, expect, it } from 'vitest'
import type { LookupResults } from '../../../../src/core/contract/lookup.ts'
import type { Done } from '../../../../src/core/contract/operation-result.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { localContext } from '../../../support/local-context.ts'

const REF = 'a'.repeat(24)
const OTHER = 'b'.repeat(24)
const ROWS = JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id, state: 'open' })))
const LARGE = 'c'.repeat(24)
const kept: Readonly<Record<string, string>> = {
  [REF]: ROWS,
  [OTHER]: 'A second text.',
  [LARGE]: 'y'.repeat(1024 * 1024),
}
const SOURCES = { sessions: false }

/** Runs an operation in both phases. */
function run(op: string, request: object): Record<string, unknown> {
  const operation = OPERATIONS[op]!
  const lookups = operation.lookups?.(request, SOURCES) ?? []
  const resolutions: LookupResults = lookups.map(lookup => {
    const text = kept[lookup?.input_ref ?? '']
    if (lookup?.input_ref === undefined) return null
    if (text !== undefined) return { input: { bytes: Buffer.from(text), media_type: 'text/plain' } }
    return { problem: { code: 'not_found', title: 'Not found', status: 404 } as never }
  })
  const done = operation.run(request, { ...localContext(), resolutions }) as Done<object>
  return done.answer as Record<string, unknown>
}

describe('a kept input', () => {
  it('is counted like its text', () => {
    expect(run('count', { input_ref: REF })).toEqual(run('count', { content: ROWS }))
  })

  it('is compared like its text', () => {
    const asked = { session: 's', tool: 'list' }
    expect(run('dedup', { ...asked, input_ref: REF })).toEqual(
      run('dedup', { ...asked, content: ROWS }),
    )
  })

  it.each([
    ['count', { input_ref: REF, content: 'x' }],
    ['count', { input_ref: REF, contents: [] }],
    ['count', {}],
    ['dedup', { session: 's', input_ref: REF, content: 'x' }],
    ['dedup', { session: 's' }],
  ])('is refused beside another content, or without any: %s %j', (op, request) => {
    expect(() => run(op, request)).toThrow(/exactly one of/)
  })

  it.each([
    ['count', { input_ref: 'd'.repeat(24) }],
    ['dedup', { session: 's', input_ref: 'd'.repeat(24) }],
    ['compress', { messages: [{ role: 'user', content: [{ type: 'text', input_ref: 'x' }] }] }],
  ])('fails a %s if nothing is kept', (op, request) => {
    expect(() => run(op, request)).toThrow(expect.objectContaining({ code: 'not_found' }))
  })
})

describe('kept inputs in messages', () => {
  const text = (fields: object) => ({ type: 'text', ...fields })
  const messagesWith = (of: (ref: string) => object) => [
    { role: 'system', content: 'Be good.' },
    { role: 'user', content: [text(of(OTHER)), text({ text: 'And this.' })] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: 't', content: [text(of(REF))] }],
    },
    { role: 'user', content: [text(of(REF))] },
  ]

  it('are compressed like their texts, in their places, and are counted', () => {
    const { inputs, ...answer } = run('compress', {
      messages: messagesWith(input_ref => ({ input_ref })),
    })
    expect(answer).toEqual(
      run('compress', { messages: messagesWith(ref => ({ text: kept[ref] })) }),
    )
    expect(inputs).toEqual({ kept: 2, uses: 3 })
  })

  it('take room with each use', () => {
    const messages = messagesWith(input_ref => ({ input_ref }))
    const lookups = OPERATIONS['compress']!.lookups?.({ messages }, SOURCES)
    expect(lookups).toEqual([OTHER, REF, REF].map(input_ref => ({ input_ref })))
  })

  it.each([
    ['a part that has a text too', text({ text: 'x', input_ref: REF })],
    ['a part of another type', { type: 'image', input_ref: REF }],
    ['a reference that is a number', text({ input_ref: 7 })],
  ])('are not looked for in %s', (_, part) => {
    const messages = [{ role: 'user', content: [part] }]
    expect(run('compress', { messages })['messages']).toEqual(messages)
  })

  it('are a thousand at most', () => {
    const content = Array.from({ length: 1_001 }, () => text({ input_ref: REF }))
    expect(() => run('compress', { messages: [{ role: 'user', content }] })).toThrow(/at most 1000/)
  })

  it('may be no more text than a conversation that is sent, each use counted', () => {
    const content = Array.from({ length: 17 }, () => text({ input_ref: LARGE }))
    expect(() => run('compress', { messages: [{ role: 'user', content }] })).toThrow(
      expect.objectContaining({ code: 'payload_too_large' }),
    )
  })
})
