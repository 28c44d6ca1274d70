import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import type { Report } from '../../../../src/core/contract/operation-result.ts'
import { compressOperation } from '../../../../src/core/operations/compress.ts'
import { dedupOperation } from '../../../../src/core/operations/dedup.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import type { OperationContext } from '../../../../src/core/operations/operation.ts'
import { rewriteRequestOperation } from '../../../../src/core/operations/rewrite-request.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { telemetryEvent } from '../../../../src/core/telemetry/event.ts'
import {
  createPseudonyms,
  NO_SESSION,
  tenantFolder,
} from '../../../../src/core/telemetry/pseudonyms.ts'
import { factsOf } from '../../../../src/core/telemetry/result-row.ts'
import { counters } from '../../../support/vocabularies.ts'

const KEY = new Uint8Array(32).fill(7)
const telemetry = createPseudonyms(KEY, 'acme')
const context: OperationContext = {
  counters,
  maxDepth: 100,
  maxDecodedChars: 1_000_000,
  keepsOriginals: true,
  telemetry: true,
}
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const rows = JSON.stringify(Array.from({ length: 20 }, (_, id) => ({ id, name: `n${id}` })))
const TABLE = '| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n'

const responsesOf = ({ reports }: { reports: readonly Report[] }) =>
  reports.flatMap(({ row, only }) =>
    row === undefined || only === 'metrics' ? [] : [factsOf(row(), telemetry)],
  )
const whole = (response: object | undefined) =>
  telemetryEvent.parse({ schema_version: 1, ts_ms: 0, sample_rate_applied: 1, ...response })

describe('what telemetry is told', () => {
  it('of a result that is encoded', () => {
    const request = {
      content: rows,
      session: 's',
      tool: 'mcp__git__list_pulls',
      tool_call_id: 'c',
      args: { path: 'src//x.ts' },
      is_sidechain: true,
    }
    const [response] = responsesOf(encodeOperation.run(request, context))
    expect(whole(response)).toMatchObject({
      session_hash: telemetry.session('s'),
      tool_call_id_hash: telemetry.toolCall('c'),
      file_path_hash: telemetry.filePath('src/x.ts'),
      content_sha_prefix: telemetry.content(sha(rows)),
      endpoint_class: expect.stringMatching(/^mcp__p[0-9a-f]{6}__list_pulls$/),
      response_chars: rows.length,
      shape: 'array_of_objects',
      layer_used: 'L2',
      is_dedup_hit: false,
      is_sidechain: true,
      key_stability: 1,
      depth: 2,
      tokenizer: 'o200k_base',
    })
    expect(response?.template_id).toBeUndefined()
  })

  it('of tables, templates and what is left out', () => {
    const pipeline = pipelineSchema.parse({
      templates: { endpoint_overrides: { t: 'csv_from_md' } },
    })
    const content = TABLE + '| 5 | 6 |\n'.repeat(30)
    const [table] = responsesOf(
      encodeOperation.run({ content, tool: 't' }, { ...context, pipeline }),
    )
    expect(whole(table)).toMatchObject({
      session_hash: NO_SESSION,
      shape: 'markdown_table',
      n_cols: 2,
      n_rows: 32,
      layer_used: 'L1',
      template_id: 'md',
    })
    const trim = { content: rows, mode: 'trim', budget_tokens: 60 } as const
    const [trimmed] = responsesOf(encodeOperation.run(trim, context))
    expect(whole(trimmed).elided_tokens_saved).toBeGreaterThan(0)
  })

  it('of a lone surrogate, bytes that are no UTF-8', () => {
    const [a] = responsesOf(encodeOperation.run({ content: '\ud800' }, context))
    const [b] = responsesOf(encodeOperation.run({ content: '\ufffd' }, context))
    expect(whole(a).content_sha_prefix).not.toBe(whole(b).content_sha_prefix)
  })

  it('of a result that is only looked up', () => {
    const [response] = responsesOf(
      dedupOperation.run({ content: TABLE, session: 's', tool: 'Read' }, context),
    )
    expect(whole(response)).toMatchObject({ shape: 'unknown', layer_used: 'L3' })
  })

  it('of what is new in a conversation', () => {
    const call = (id: string) => ({
      role: 'assistant',
      tool_calls: [{ id, function: { name: 'Read', arguments: '{}' } }],
    })
    const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: `${rows} ${id}` })
    const opening = [{ role: 'user', content: 'go' }]
    const first = [...opening, call('1'), result('1')]
    const second = [...first, call('2'), result('2'), result('2')]
    const told = (messages: unknown[]) =>
      responsesOf(
        compressOperation.run(compressOperation.request.parse({ messages }), context),
      ).map(whole)
    expect(told(first)).toHaveLength(1)
    expect(told(second)).toHaveLength(2)
    const sessions = [...told(first), ...told(second)].map(({ session_hash }) => session_hash)
    expect(new Set(sessions).size).toBe(1)
    expect(told([{ role: 'user', content: 'no' }, ...first.slice(1)])[0]?.session_hash).not.toBe(
      sessions[0],
    )
    expect(told(second).map(({ tool_call_id_hash }) => tool_call_id_hash)).toEqual(
      Array(2).fill(telemetry.toolCall('2')),
    )
    const use = { type: 'tool_use', id: 'u', name: 'Read', input: {} }
    const block = { type: 'tool_result', tool_use_id: 'u', content: rows }
    const anthropic = [...opening, { role: 'assistant', content: [use] }, { content: [block] }]
    expect(told(anthropic)).toMatchObject([
      { tool_call_id_hash: telemetry.toolCall('u'), endpoint_class: 'Read' },
    ])
  })

  it('of conversations whose messages hold what is no JSON', () => {
    const messages = [
      { role: 'user', content: 'go', of: 2n ** 62n },
      { role: 'tool', content: rows },
    ]
    const request = compressOperation.request.parse({ messages })
    expect(responsesOf(compressOperation.run(request, context))).toHaveLength(1)
  })

  it('of many results behind a long opening, in time that grows with the request', () => {
    const messages = [
      { role: 'user', content: 'x '.repeat(200_000) },
      ...Array.from({ length: 3_000 }, () => ({ role: 'tool', content: 'y' })),
    ]
    const request = compressOperation.request.parse({ messages })
    // Taking the facts of the opening for each result would take a minute.
    expect(responsesOf(compressOperation.run(request, context))).toHaveLength(3_000)
  })

  it('of results in the requests of a proxy', () => {
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'tu', name: 'Read', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'tu', content: rows }] },
    ]
    const body = Buffer.from(JSON.stringify({ model: 'claude-sonnet-4-6', messages }))
    const [response, ...others] = responsesOf(
      rewriteRequestOperation('anthropic_messages').run(body, context),
    )
    expect(others).toEqual([])
    expect(whole(response)).toMatchObject({
      tool_call_id_hash: telemetry.toolCall('tu'),
      endpoint_class: 'Read',
      tokenizer: 'anthropic_class',
    })
    expect(whole(response).session_hash).not.toBe(NO_SESSION)
  })

  it('is nothing of a look-up where there is no telemetry', () => {
    const { telemetry: _, ...without } = context
    expect(responsesOf(dedupOperation.run({ content: rows, session: 's' }, without))).toEqual([])
  })
})

describe('pseudonyms', () => {
  it('have their widths, and differ by key, tenant and kind', () => {
    const other = createPseudonyms(new Uint8Array(32).fill(8), 'acme')
    const neighbour = createPseudonyms(KEY, 'emca')
    const kinds = ['session', 'toolCall', 'filePath', 'content'] as const
    const all = [telemetry, other, neighbour].flatMap(each => kinds.map(kind => each[kind]('x')))
    expect(all.slice(0, 4).map(({ length }) => length)).toEqual([16, 8, 8, 32])
    expect(new Set(all.map(digits => digits.slice(0, 8))).size).toBe(12)
    expect(all.some(digits => sha('x').startsWith(digits))).toBe(false)
    expect(createPseudonyms(KEY, 'acme').session('x')).toBe(telemetry.session('x'))
    expect(tenantFolder(KEY, 'acme')).toMatch(/^[0-9a-f]{16}$/)
    expect(tenantFolder(KEY, 'acme')).not.toBe(tenantFolder(KEY, 'emca'))
  })
})
