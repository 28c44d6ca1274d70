import { expect, it } from 'vitest'
import {
  attachRewriteMemory,
  type RewriteMemory,
} from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { localContext } from '../../../../support/local-context.ts'
import { type Step, turnBody } from '../../../../support/turns/bodies.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const TERMS = { model: 'gpt-5', tools: ['list', 'haversack_retrieve'] }

const log = (seed: number): Step => ({
  tool: 'list',
  args: { seed },
  isError: false,
  text: Array.from({ length: 150 }, (_, i) => `INFO request ${seed * i * 7919} answered`).join(
    '\n',
  ),
})
const STEPS = [log(1), log(2), log(3)]

/** A request after so many steps that lets the model call no tool that fetches originals. */
const NO_CALLS: Readonly<Record<RouteName, (body: object) => object>> = {
  anthropic_messages: body => ({ ...body, tool_choice: { type: 'none' } }),
  openai_chat: body => ({
    ...body,
    tool_choice: { type: 'function', function: { name: 'list' } },
  }),
  openai_responses: body => ({ ...body, tool_choice: 'none' }),
  gemini_generate: body => ({ ...body, toolConfig: { functionCallingConfig: { mode: 'NONE' } } }),
  bedrock_converse: body => {
    const { toolConfig } = body as { readonly toolConfig: object }
    return { ...body, toolConfig: { ...toolConfig, toolChoice: { tool: { name: 'list' } } } }
  },
}

function sentBy(memory: RewriteMemory) {
  return (route: RouteName, end: number, change = (body: object) => body): string => {
    const bytes = turnBody(route, STEPS, { end, before: end - 1 }, TERMS)
    const body = Buffer.from(JSON.stringify(change(JSON.parse(Buffer.from(bytes).toString()))))
    const sent = rewriteRequest(body, route, LIMITS, {
      ...localContext(),
      pipeline: anySaving(),
      keepsOriginals: true,
      terms: { redeems: true, bypass: false },
      rewrites: { tenant: 't', memory, recalled: {} },
    })
    for (const { position } of sent.records ?? []) if (position !== null) memory.confirm(position)
    return Buffer.from(sent.bytes).toString()
  }
}

const markers = (text: string) => text.split(' not shown | ').length - 1

it.each(Object.keys(NO_CALLS) as RouteName[])(
  '%s: a new result stays whole in a request that may not fetch, then and later',
  route => {
    const sent = sentBy(attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 })))
    expect(markers(sent(route, 1))).toBe(1)
    // The recorded marker stays, and the new result is whole.
    expect(markers(sent(route, 2, NO_CALLS[route]))).toBe(1)
    expect(markers(sent(route, 2))).toBe(1)
    // A third result may be left out again.
    expect(markers(sent(route, 3))).toBe(2)
  },
)
