import { describe, expect, it } from 'vitest'
import { blockFor } from '../../../../../src/core/conversation/prefix/steer-verbosity.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { recordingProxy } from '../../../../support/recording-proxy.ts'

const terse = { steering: { verbosity: 'terse' } }
const BLOCK = blockFor('terse')
const ENDS = { cache_control: { type: 'ephemeral' } }
const user = (content: unknown) => ({ role: 'user', content })
const said = (content: string) => ({ role: 'assistant', content })

function turn(turns: number, fields: object = {}, key = 'messages') {
  const more = Array.from({ length: turns }, (_, i) => [said(`Step ${i}`), user(`More ${i}`)])
  return { model: 'claude-x', ...fields, [key]: [user('Go.'), ...more.flat()] }
}

describe('the block for brevity', () => {
  it.each([
    ['a text', 'Be good.', `Be good.\n\n${BLOCK}`],
    ['an empty text', '', BLOCK],
    ['no parts', [], [{ type: 'text', text: BLOCK }]],
    [
      'parts of which the last ends the cached prefix',
      [{ type: 'text', text: 'Be good.', ...ENDS }],
      [
        { type: 'text', text: 'Be good.', ...ENDS },
        { type: 'text', text: BLOCK },
      ],
    ],
    ['another block of ours', `A ${blockFor('minimal')} B`, `A ${BLOCK} B`],
    ['the very block', `A\n\n${BLOCK}`, `A\n\n${BLOCK}`],
    ['two blocks', `${blockFor('minimal')}${BLOCK}`, `${BLOCK}${BLOCK}`],
    [
      'a block in a part',
      [{ type: 'text', text: `A ${blockFor('concise')}` }],
      [{ type: 'text', text: `A ${BLOCK}` }],
    ],
    [
      'a block that is cached',
      [{ type: 'text', text: `A ${blockFor('concise')}`, ...ENDS }],
      [{ type: 'text', text: `A ${blockFor('concise')}`, ...ENDS }],
    ],
    ['a tag without an end', '<haversack_output> A', `<haversack_output> A\n\n${BLOCK}`],
    ['a number', 7, 7],
    ['a part that is a text', ['A'], ['A', { type: 'text', text: BLOCK }]],
    ['nothing', undefined, undefined],
    ['null', null, null],
  ])('stands last in instructions that are %s', (_, system, expected) => {
    const sent = JSON.parse(recordingProxy(terse).text(turn(0, { system })))
    expect(sent).toEqual(JSON.parse(JSON.stringify(turn(0, { system: expected }))))
  })

  it('is found if JSON escapes its brackets', () => {
    const body = JSON.stringify(turn(0, { system: blockFor('minimal') }))
    const escaped = body.replaceAll('<', '\\u003c').replaceAll('>', '\\u003e')
    const sent = JSON.parse(recordingProxy(terse).text(escaped))
    expect(sent.system).toBe(BLOCK)
  })

  it('changes nothing in a request with instructions twice', () => {
    const body = `{"system":"a","system":"b","messages":[{"role":"user","content":"x"}]}`
    expect(recordingProxy(terse).text(body)).toBe(body)
  })

  it.each([
    ['a text', { role: 'system', content: 'A' }, [{ role: 'system', content: `A\n\n${BLOCK}` }]],
    [
      'parts',
      { role: 'developer', content: [{ type: 'text', text: 'A' }] },
      [
        {
          role: 'developer',
          content: [
            { type: 'text', text: 'A' },
            { type: 'text', text: BLOCK },
          ],
        },
      ],
    ],
    [
      'a message that ends the cached prefix',
      { role: 'system', content: 'A', ...ENDS },
      [
        { role: 'system', content: 'A', ...ENDS },
        { role: 'system', content: BLOCK },
      ],
    ],
  ])('stands last in the instructions of Chat: %s', (_, message, expected) => {
    const proxy = recordingProxy(terse, { route: 'openai_chat' })
    const sent = JSON.parse(proxy.text({ messages: [message, user('Go.')] }))
    expect(sent.messages).toEqual([...expected, user('Go.')])
    expect(proxy.text({ messages: [user('Go.')] })).toBe(
      '{"messages":[{"role":"user","content":"Go."}]}',
    )
  })

  it('stands last in the instructions of Responses', () => {
    const proxy = recordingProxy(terse, { route: 'openai_responses' })
    const one = turn(0, { instructions: 'A', store: false }, 'input')
    expect(JSON.parse(proxy.text(one)).instructions).toBe(`A\n\n${BLOCK}`)
    const message = {
      type: 'message',
      role: 'developer',
      content: [{ type: 'input_text', text: 'A' }],
    }
    const two = { store: false, input: [message, user('Go.')] }
    const [first] = JSON.parse(proxy.text(two)).input
    expect(first.content.at(-1)).toEqual({ type: 'input_text', text: BLOCK })
  })

  it('stays in what continues a stored response, if a cache key names the conversation', () => {
    const proxy = recordingProxy(terse, { route: 'openai_responses' })
    const request = (fields: object) => ({ instructions: 'A', input: [user('Go.')], ...fields })
    const steered = (fields: object) => proxy.text(request(fields)).includes(BLOCK)
    expect(steered({ prompt_cache_key: 'one' })).toBe(true)
    expect(steered({ prompt_cache_key: 'one', previous_response_id: 'r' })).toBe(true)
    // Nothing would name these.
    expect(steered({})).toBe(false)
    expect(steered({ prompt_cache_key: 'two', previous_response_id: 'r' })).toBe(false)
  })

  it.each(['gemini_generate', 'bedrock_converse'] as const)('is not for %s', route => {
    const body =
      route === 'gemini_generate'
        ? '{"systemInstruction":{"parts":[{"text":"A"}]},"contents":[]}'
        : '{"system":[{"text":"A"}],"messages":[]}'
    expect(recordingProxy(terse, { route }).text(body)).toBe(body)
  })
})

describe('the effort of reasoning', () => {
  const effort = (value: string, fields: object = {}) => ({
    steering: { effort: value, ...fields },
  })
  const asks = (value: unknown) => ({ output_config: { effort: value } })

  it.each([
    ['lowered', 'low', asks('high'), asks('low')],
    ['never raised', 'high', asks('low'), asks('low')],
    ['the same', 'low', asks('low'), asks('low')],
    ['not asked for', 'low', {}, {}],
    [
      'asked for without a level',
      'low',
      { thinking: { type: 'enabled' } },
      { thinking: { type: 'enabled' } },
    ],
    ['none that we know', 'low', asks('enormous'), asks('enormous')],
    ['a number', 'low', asks(3), asks(3)],
    ['one that the vendor has not', 'minimal', asks('high'), asks('high')],
  ])('is %s', (_, most, fields, expected) => {
    const sent = JSON.parse(recordingProxy(effort(most)).text(turn(0, fields)))
    expect(sent).toEqual(turn(0, expected))
  })

  it('is lowered where Chat and Responses have it, and never in place of none', () => {
    const chat = recordingProxy(effort('low'), { route: 'openai_chat' })
    const ofChat = (value: string) => turn(0, { model: 'gpt-5', reasoning_effort: value })
    expect(JSON.parse(chat.text(ofChat('high'))).reasoning_effort).toBe('low')
    expect(JSON.parse(chat.text(ofChat('none'))).reasoning_effort).toBe('none')
    const responses = recordingProxy(effort('minimal'), { route: 'openai_responses' })
    const fields = { model: 'gpt-5', store: false, reasoning: { effort: 'xhigh', summary: 'auto' } }
    const sent = JSON.parse(responses.text(turn(0, fields, 'input')))
    expect(sent.reasoning).toEqual({ effort: 'minimal', summary: 'auto' })
  })

  describe('of turns that only continue', () => {
    const mechanical = effort('max', {
      mechanical_effort: 'low',
      base_effort: 'high',
    })
    const call = {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 't', name: 'Read', input: {} }],
    }
    const result = (fields: object = {}) => ({
      type: 'tool_result',
      tool_use_id: 't',
      content: 'x',
      ...fields,
    })
    const after = (content: unknown) => ({
      ...turn(0, asks('max')),
      messages: [user('Go.'), call, user(content)],
    })

    it.each([
      ['low', [result()]],
      ['high', [result({ is_error: true })]],
      ['high', [result(), { type: 'text', text: 'And this?' }]],
      ['high', 'And this?'],
    ])('is %s after %j', (expected, content) => {
      const proxy = recordingProxy(mechanical)
      expect(JSON.parse(proxy.text(turn(0, asks('max')))).output_config.effort).toBe('high')
      expect(JSON.parse(proxy.text(after(content))).output_config.effort).toBe(expected)
    })

    it('is refused without one for all other turns', () => {
      const steering = { mechanical_effort: 'low' }
      expect(pipelineSchema.safeParse({ steering }).success).toBe(false)
    })
  })
})
