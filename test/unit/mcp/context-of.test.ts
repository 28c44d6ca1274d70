import { describe, expect, it } from 'vitest'
import { contextOf } from '../../../src/mcp/client/contexts/context-of.ts'

const of = (
  meta: object | string | null,
  { header = null, connection = null }: { header?: string | null; connection?: string | null } = {},
) => {
  const text = typeof meta === 'string' ? meta : JSON.stringify({ _meta: meta })
  return contextOf({ params: meta === null ? null : Buffer.from(text), header, connection })
}
const codex = (turn: object) => of({ 'x-codex-turn-metadata': turn })

describe('the context of a call', () => {
  it.each([
    [null, null],
    [{}, null],
    [{ 'claudecode/toolUseId': 'toolu_1' }, null],
    [{ 'haversack/context': '' }, null],
    [{ 'haversack/context': 7 }, null],
    ['{"_meta":[]}', null],
    ['{"_meta":{"haversack/context":"a","haversack/context":"b"}}', null],
    [{ 'haversack/context': 'mine' }, 'mine'],
    [{ 'vscode.conversationId': 'c1' }, 'vscode c1'],
  ])('of %j is %j', (meta, expected) => {
    expect(of(meta)).toBe(expected)
  })

  it('is that of the most explicit name', () => {
    const meta = { 'vscode.conversationId': 'c' }
    expect(of({ ...meta, 'haversack/context': 'a' }, { header: 'b', connection: 'd' })).toBe('a')
    expect(of(meta, { header: 'b', connection: 'd' })).toBe('b')
    expect(of(meta, { connection: 'd' })).toBe('vscode c')
    expect(of({}, { connection: 'd' })).toBe('d')
  })

  it('is the thread of Codex, whose window ends with a compaction', () => {
    expect(codex({ session_id: 's' })).toBe('codex s')
    expect(codex({ session_id: 's', thread_id: 't' })).toBe('codex t')
    expect(codex({ thread_id: 't', window_id: 't:1' })).toBe('codex t t:1')
    expect(of({ 'x-codex-turn-metadata': '{"session_id":"s"}' })).toBe('codex s')
    expect(of({ 'x-codex-turn-metadata': 'no JSON' })).toBeNull()
  })

  it('is another one for a sub-agent, and none if that is not named', () => {
    expect(codex({ session_id: 's', thread_id: 'u', thread_source: 'subagent' })).toBe('codex u')
    expect(codex({ session_id: 's', thread_source: 'subagent' })).toBeNull()
    expect(codex({ session_id: 's', subagent_kind: 'review' })).toBeNull()
  })

  it('has a bounded name', () => {
    const long = (end: string) => of({ 'haversack/context': 'x'.repeat(1e5) + end })
    expect(long('a')).toMatch(/^[0-9a-f]{64}$/)
    expect(long('a')).not.toBe(long('b'))
  })
})
