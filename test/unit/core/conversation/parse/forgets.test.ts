import { describe, expect, it } from 'vitest'
import type { RouteName } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { scanned, toolResult, userBlocks } from './scanned.ts'

const CLEAR_THINKING = { type: 'clear_thinking_20251015', keep: 'all' }
const CLEAR_TOOL_USES = { type: 'clear_tool_uses_20250919' }

const request = (fields: object, ...blocks: readonly object[]) => ({
  ...userBlocks(toolResult('a'), ...blocks),
  ...fields,
})

describe('a provider may forget results', () => {
  it.each<[string, object]>([
    ['no edits', { context_management: {} }],
    ['an empty list of edits', { context_management: { edits: [] } }],
    ['edits that clear results', { context_management: { edits: [CLEAR_TOOL_USES] } }],
    ['such edits too', { context_management: { edits: [CLEAR_THINKING, CLEAR_TOOL_USES] } }],
    ['edits of an unknown type', { context_management: { edits: [{ type: 'clear_thinking' }] } }],
    ['edits without a type', { context_management: { edits: [{}] } }],
    ['something else', { context_management: true }],
    ['transforms', { transforms: ['middle-out'] }],
    ['truncation', { truncation: 'auto' }],
  ])('where a request has %s', (_, fields) => {
    expect(scanned('anthropic_messages', request(fields))?.forgets).toBe(true)
  })

  it('where a request has doubled keys in its edits', () => {
    for (const management of [
      '{"edits":[{"type":"clear_thinking_1","type":"x"}]}',
      '{"edits":[{"type":"clear_thinking_1"}],"edits":[]}',
    ]) {
      const body = `{"context_management":${management},"messages":[]}`
      expect(scanned('anthropic_messages', body)?.forgets).toBe(true)
    }
  })

  it('where a conversation with OpenAI is compacted', () => {
    const compaction = [{ type: 'compaction', compact_threshold: 200_000 }]
    const body = { model: 'm', input: [], context_management: compaction }
    expect(scanned('openai_responses', body)?.forgets).toBe(true)
  })

  it.each<[string, object]>([
    [
      'deletes results',
      { type: 'cache_edits', edits: [{ type: 'delete', cache_reference: 't1' }] },
    ],
    ['names results to delete them', toolResult('b', { cache_reference: 't1' })],
  ])('where a client %s', (_, block) => {
    expect(scanned('anthropic_messages', request({}, block))?.forgets).toBe(true)
  })
})

describe('a provider forgets no results', () => {
  it.each<[RouteName, object]>([
    ['anthropic_messages', request({})],
    // What Claude Code sends.
    ['anthropic_messages', request({ context_management: { edits: [CLEAR_THINKING] } })],
    ['anthropic_messages', request({ context_management: null }, { type: 'text', text: 'a' })],
    ['openai_responses', { model: 'm', input: [], truncation: 'disabled' }],
  ])('%s %j', (route, body) => {
    expect(scanned(route, body)?.forgets).toBe(false)
  })
})
