import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { UnreadableLog } from '../../../src/lab/logs/chunks.ts'
import { claudeCode } from '../../../src/lab/logs/claude-code.ts'
import { codex } from '../../../src/lab/logs/codex.ts'
import { listLogs } from '../../../src/lab/logs/list-logs.ts'
import { addTally, noTally, PendingCalls, readLog } from '../../../src/lab/logs/read-log.ts'

const folder = mkdtempSync(join(tmpdir(), 'mine-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** What each result is, with the partition that it was read in. */
function read(content: string | Uint8Array | readonly object[]) {
  const path = join(folder, 'log.jsonl')
  const isLines = Array.isArray(content)
  const text = isLines ? content.map(line => `${JSON.stringify(line)}\n`).join('') : content
  writeFileSync(path, text as string | Uint8Array)
  const tally = noTally()
  const results: object[] = []
  for (const { context, ...result } of readLog(path, tally)) {
    results.push({ ...result, partition: context.partition })
  }
  return { results, tally }
}

const TIME = '2026-01-02T03:04:05.678Z'
const claude = (type: string, more: object, content?: unknown) => {
  return { type, sessionId: 's1', timestamp: TIME, ...more, message: { content } }
}
const use = (id: string, name = 'Read', input: object = {}) => {
  return claude('assistant', {}, [{ type: 'tool_use', id, name, input }])
}
const gave = (id: string, content: unknown, more: object = {}) => {
  return claude('user', more, [{ type: 'tool_result', tool_use_id: id, content }])
}

describe('what an answer was billed for', () => {
  const ofClaude = (tokens: unknown) =>
    claudeCode({
      ...{ type: 'assistant', timestamp: TIME },
      message: { id: 'm', model: 'claude-opus-4-1', usage: { input_tokens: tokens } },
    })
  const ofCodex = (tokens: unknown) =>
    codex({
      ...{ type: 'event_msg', timestamp: TIME },
      payload: { type: 'token_count', info: { last_token_usage: { input_tokens: tokens } } },
    })

  it.each([
    [120_000, 120_000],
    [0, 0],
    [-5, 0],
    [1.5, 0],
    ['7', 0],
    [1e9, 1e9],
    [1e9 + 1, 0],
    [1e308, 0],
  ])('says of %s tokens that they are %s', (said, tokens) => {
    for (const line of [ofClaude(said), ofCodex(said)]) {
      expect(line?.usage?.usage.uncached).toBe(tokens)
    }
  })
})

describe('the model of a result', () => {
  it('is the one that spoke last in its context', () => {
    const by = (model: string, id: string, more: object = {}) => ({
      ...{ type: 'assistant', sessionId: 's1', timestamp: TIME, ...more },
      message: { model, content: [{ type: 'tool_use', id, name: 'Read', input: {} }] },
    })
    const side = { isSidechain: true, agentId: 'a' }
    const turn = { type: 'turn_context', timestamp: TIME, payload: { model: 'gpt-5-codex' } }
    const output = { type: 'function_call_output', call_id: 'c', output: 'x' }
    const { results } = read([
      gave('t0', 'before any'),
      by('claude-opus-4-1', 't1'),
      by('claude-haiku-4-5', 't2', side),
      gave('t2', 'of the sub-agent', side),
      gave('t1', 'of the agent'),
      { type: 'assistant', sessionId: 's1', message: { model: '<synthetic>', content: 'refused' } },
      gave('t3', 'still'),
      turn,
      { type: 'response_item', payload: output },
    ])
    expect(results.map(each => (each as { model?: string }).model)).toEqual([
      ...[undefined, 'claude-haiku-4-5', 'claude-opus-4-1', 'claude-opus-4-1', 'gpt-5-codex'],
    ])
  })
})

describe('logs of Claude Code', () => {
  it('give the results with their calls', () => {
    const { results, tally } = read([
      { type: 'summary', summary: 'x' },
      use('t1', 'Read', { file_path: '/a' }),
      gave('t1', [{ type: 'text', text: 'one' }, { type: 'image' }, { type: 'text', text: 'two' }]),
      gave('t2', 'no call'),
      use('t3'),
      gave('t3', [{ type: 'image', source: {} }]),
      use('t4', 'TodoWrite'),
      claude('user', {}, [{ type: 'tool_result', tool_use_id: 't4', is_error: true }]),
      claude('user', {}, 'a prompt'),
    ])
    expect(results).toMatchObject([
      {
        ...{
          session: 's1',
          agent: undefined,
          tool: 'Read',
          args: { file_path: '/a' },
          partition: 0,
        },
        ...{ call_id: 't1', text: 'one\ntwo', is_error: false, ts_ms: Date.parse(TIME) },
      },
      { tool: undefined, call_id: 't2', text: 'no call' },
      { tool: 'TodoWrite', text: '', is_error: true },
    ])
    expect(tally).toMatchObject({ lines: 9, read: 8, other: 1, results: 4, without_call: 1 })
    expect(tally.skipped.no_text).toBe(1)
  })

  it('tell a sub-agent from the session', () => {
    const side = { isSidechain: true, agentId: 'a7' }
    const streamed = { isSidechain: undefined, parent_tool_use_id: 't9' }
    const { results } = read([
      gave('t1', 'x', side),
      gave('t2', 'x', { isSidechain: true }),
      gave('t3', 'x', streamed),
      gave('t4', 'x', { parent_tool_use_id: null }),
    ])
    expect(results).toMatchObject([
      { agent: 'a7' },
      { agent: 'agent' },
      { agent: 't9' },
      { agent: undefined },
    ])
  })

  const automatic = { type: 'system', subtype: 'compact_boundary', sessionId: 's1' }
  const summary = claude('user', { isCompactSummary: true }, 'This session is being continued')
  const unmarked = claude('user', {}, [
    {
      type: 'text',
      text: 'This session is being continued from a previous conversation that ran out of context. …',
    },
  ])
  const command = claude('user', {}, '<command-name>/compact</command-name>')
  it.each([
    ['automatic, which leaves a boundary and a summary', [automatic, summary, command], 1],
    ['with a summary only', [summary], 1],
    ['of versions that mark nothing', [unmarked], 1],
    ['of old results', [{ ...automatic, subtype: 'microcompact_boundary' }], 1],
    ['that was called off', [command], 0],
  ])('count a compaction %s', (_, lines, partition) => {
    const { results } = read([...lines, use('a'), gave('a', 'x'), ...lines, gave('b', 'y')])
    expect(results).toMatchObject([
      // A summary at the beginning stands for another log.
      { partition: 0, isCompacted: false },
      { partition, isCompacted: partition === 1 },
    ])
  })
})

describe('logs of Codex', () => {
  const item = (payload: object) => ({ timestamp: TIME, type: 'response_item', payload })
  it('give the results with their calls', () => {
    const call = (name: string, more: object) => item({ type: 'function_call', name, ...more })
    const out = (call_id: string, output: unknown) => {
      return item({ type: 'function_call_output', call_id, output })
    }
    const { results } = read([
      { timestamp: TIME, type: 'session_meta', payload: { id: 's2' } },
      { timestamp: TIME, type: 'turn_context', payload: { model: 'm' } },
      call('shell', { call_id: 'c1', arguments: '{"command":["git","log"]}' }),
      out('c1', 'text'),
      call('get', { call_id: 'c2', namespace: 'mcp__x__', arguments: '{broken' }),
      out('c2', { content: [{ type: 'input_text', text: 'part' }], success: false }),
      item({ type: 'custom_tool_call', name: 'apply_patch', call_id: 'c3', input: '*** Begin' }),
      item({ type: 'custom_tool_call_output', call_id: 'c3', output: 'Done' }),
      item({ type: 'local_shell_call', call_id: 'c4', action: { type: 'exec', command: ['ls'] } }),
      { timestamp: TIME, type: 'event_msg', payload: { type: 'context_compacted' } },
      { timestamp: TIME, type: 'compacted', payload: { message: '' } },
      item({ type: 'local_shell_call_output', call_id: 'c4', output: 'a' }),
    ])
    expect(results).toMatchObject([
      { session: 's2', tool: 'shell', args: { command: ['git', 'log'] }, text: 'text' },
      { tool: 'mcp__x__get', args: undefined, text: 'part', is_error: true },
      { tool: 'apply_patch', args: { input: '*** Begin' }, text: 'Done', partition: 0 },
      {
        tool: 'local_shell',
        args: { command: ['ls'] },
        text: 'a',
        partition: 1,
        isCompacted: true,
      },
    ])
  })

  it('of the first versions have their items in the line, and a first line without a type', () => {
    const items = [
      { type: 'function_call', name: 'shell', arguments: '{}', call_id: 'c' },
      { record_type: 'state' },
      { type: 'function_call_output', call_id: 'c', output: 'x' },
    ]
    const told = { tool: 'shell', text: 'x' }
    expect(read(items).results).toMatchObject([{ ...told, session: undefined, ts_ms: 0 }])
    const { results } = read([{ id: 's0', timestamp: TIME, instructions: null }, ...items])
    expect(results).toMatchObject([{ ...told, session: 's0', ts_ms: Date.parse(TIME) }])
  })

  const meta = (id: string, more: object = {}) => {
    return { timestamp: TIME, type: 'session_meta', payload: { id, ...more } }
  }
  const output = (call_id: string) => {
    return item({ type: 'function_call_output', call_id, output: 'x' })
  }
  it('are of the session that they begin with, whatever they were forked from', () => {
    const { results } = read([meta('child'), meta('parent'), meta('its parent'), output('c')])
    expect(results).toMatchObject([{ session: 'child', agent: undefined }])
  })

  it.each([[{ thread_source: 'subagent' }], [{ source: { subagent: { other: 'guardian' } } }]])(
    'of a sub-agent say so: %j',
    more => {
      const { results } = read([meta('child', more), meta('parent'), output('c')])
      expect(results).toMatchObject([{ session: 'child', agent: 'child' }])
    },
  )

  it.each([
    ['mcp__github', 'mcp__github__get_me'],
    ['mcp__github__', 'mcp__github__get_me'],
    ['multi_agent_v1', 'get_me'],
    [null, 'get_me'],
  ])('name the tools of the namespace %j', (namespace, tool) => {
    const call = { type: 'function_call', name: 'get_me', namespace, call_id: 'c', arguments: '{}' }
    expect(read([item(call), output('c')]).results).toMatchObject([{ tool }])
  })

  it('have searches for tools, which give no text', () => {
    const { results, tally } = read([
      item({ type: 'tool_search_call', call_id: 'c', arguments: { query: 'x' } }),
      item({ type: 'tool_search_output', call_id: 'c', tools: [] }),
      item({ type: 'web_search_call', action: { type: 'search', query: 'x' } }),
    ])
    expect(results).toEqual([])
    expect(tally).toMatchObject({ results: 1, skipped: { no_text: 1 } })
  })
})

describe('reading', () => {
  it('counts what says nothing, by why', () => {
    const latin = Buffer.from('{"text": "\xe9"}\n', 'latin1')
    const text = Buffer.from('{}\r\n\n  \n[1]\n7\nnonsense\n{"type":"user","mess')
    const { tally } = read(Buffer.concat([latin, text]))
    expect(tally).toMatchObject({ lines: 6, other: 1, read: 0 })
    expect(tally.skipped).toMatchObject({ not_utf8: 1, not_an_object: 2, not_json: 1, torn: 1 })
    const sums = noTally()
    addTally(sums, tally)
    addTally(sums, tally)
    expect([sums.lines, sums.other, sums.skipped.torn]).toEqual([12, 2, 2])
  })

  it('puts lines together that lie in several chunks', () => {
    const texts = ['a', 'é'.repeat(700_000), 'b', 'c'.repeat(3_000_000)]
    const { results, tally } = read(texts.map(text => ({ tool: 't', text })))
    expect(results.map(result => (result as { text: string }).text)).toEqual(texts)
    expect(tally.read).toBe(4)
  })

  it.each([
    ['2026-01-02T03:04:05.678Z', Date.parse(TIME)],
    ['2026-01-02T03:04:05.678', Date.parse(TIME)],
    ['2026-01-02T04:04:05.678+01:00', Date.parse(TIME)],
    [1_767_323_045_678.9, 1_767_323_045_678],
    ['yesterday', 0],
    [-1, 0],
    [1e300, 0],
  ])('takes the time %j, wherever it is read', (ts, ts_ms) => {
    vi.stubEnv('TZ', 'Asia/Tokyo')
    expect(read([{ tool: 't', text: 'x', ts }]).results).toMatchObject([{ ts_ms }])
    vi.unstubAllEnvs()
  })

  it('passes over a byte order mark', () => {
    const text = `\uFEFF${JSON.stringify({ tool: 't', text: 'x' })}\n`
    expect(read(text).results).toMatchObject([{ text: 'x' }])
  })

  it.each([
    ['.zst', zstdCompressSync],
    ['.gz', gzipSync],
  ])('unpacks %s', (suffix, compress) => {
    const path = join(folder, `packed.jsonl${suffix}`)
    const bytes = compress(`${JSON.stringify({ tool: 't', text: 'x' })}\n`)
    writeFileSync(path, bytes)
    expect([...readLog(path, noTally())]).toMatchObject([{ text: 'x' }])
    for (const broken of [bytes.subarray(0, -4), Buffer.from('{}')]) {
      writeFileSync(path, broken)
      expect(() => [...readLog(path, noTally())]).toThrow(UnreadableLog)
    }
  })

  it('passes over nesting that no recursion could follow', () => {
    const deep = `{"type":"user","message":{"content":${'['.repeat(200_000)}${']'.repeat(200_000)}}}\n`
    expect(read(deep).results).toEqual([])
  })

  it('forgets calls that never end', () => {
    const calls = new PendingCalls()
    for (let i = 0; i < 300; i++) calls.set(`c${i}`, { tool: 't', args: i })
    expect(calls.take('c0')).toBeUndefined()
    expect(calls.take('c299')).toMatchObject({ args: 299 })
    expect(calls.take('c299')).toBeUndefined()
  })
})

describe('listLogs', () => {
  it('finds logs at every depth, in order, and follows no links', () => {
    const root = join(folder, 'tree')
    const write = (...parts: string[]) => {
      mkdirSync(join(root, ...parts.slice(0, -1)), { recursive: true })
      writeFileSync(join(root, ...parts), '12345')
    }
    write('b', 'deep', 'er', 'x.jsonl')
    write('a', 'z.jsonl')
    write('a', 'notes.md')
    write('c.jsonl')
    symlinkSync(root, join(root, 'a', 'circle'))
    symlinkSync(join(root, 'c.jsonl'), join(root, 'again.jsonl'))
    const { files, ...counts } = listLogs([root, join(root, 'missing')])
    expect(files.map(file => file.path.slice(root.length))).toEqual([
      '/a/z.jsonl',
      '/b/deep/er/x.jsonl',
      '/c.jsonl',
    ])
    expect(files[0]?.bytes).toBe(5)
    expect(counts).toEqual({ other: 3, unreadable: 1 })
  })

  it('takes each file once, whatever names it has', () => {
    const root = join(folder, 'once')
    mkdirSync(root)
    for (const name of ['a.jsonl', 'a.jsonl.zst', 'b.jsonl.zst', 'c.jsonl.gz', 'd.gz', 'e.zst']) {
      writeFileSync(join(root, name), '')
    }
    linkSync(join(root, 'a.jsonl'), join(root, 'z.jsonl'))
    symlinkSync(root, join(folder, 'linked'))
    const { files, other } = listLogs([root, join(root, 'a.jsonl'), join(folder, 'linked')])
    expect(files.map(file => file.path.slice(root.length))).toEqual([
      '/a.jsonl',
      '/b.jsonl.zst',
      '/c.jsonl.gz',
    ])
    expect(other).toBe(4)
  })

  it('takes a file that is named, whatever it is called', () => {
    const path = join(folder, 'session.log')
    writeFileSync(path, '')
    expect(listLogs([path]).files).toEqual([{ path, bytes: 0 }])
  })
})
