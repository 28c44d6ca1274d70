import { hash } from 'node:crypto'
import { expect } from 'vitest'
import type { CompressAnswer } from '../../../../../src/core/contract/compress.ts'
import type { AppDeps } from '../../../../../src/http/context.ts'
import { encode } from '../../../../../src/index.ts'
import { testApp } from '../../../../support/app.ts'

export const rows = (count: number, seed = 0) =>
  JSON.stringify(
    Array.from({ length: count }, (_, i) => ({
      id: seed + i,
      name: `user ${(seed + i) * 7919}`,
      state: i % 3 === 0 ? 'open' : 'closed',
    })),
  )
export const big = rows(40)
export const small = encode({ content: big }).content

export const call = (id: string, name = 'list') => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name, arguments: '{"page":1}' } }],
})
export const toolMessage = (content: unknown, tool_call_id = 'c1') => ({
  role: 'tool',
  tool_call_id,
  content,
})
export const user = (...content: unknown[]) => ({ role: 'user', content })
export const result = (content: unknown, fields = {}) => ({
  type: 'tool_result',
  tool_use_id: 't1',
  content,
  ...fields,
})
export const text = (value: string, fields = {}) => ({ type: 'text', text: value, ...fields })
export const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'AAAA' },
}

/** A store that keeps everything, and the hashes of it. */
export function keeping() {
  const kept: string[] = []
  const keep: AppDeps['originals']['keep'] = async (_tenant, { bytes }) => {
    const digest = hash('sha256', bytes, 'hex')
    kept.push(digest.slice(0, 24))
    return { hash: digest, bytes: bytes.length, created: true, expires_at: 1 }
  }
  return { kept, originals: { ...testApp().deps.originals, keep } }
}

export async function compress(
  body: object,
  overrides: Partial<AppDeps> = {},
  headers: Record<string, string> = {},
) {
  const response = await testApp(overrides).post('/v1/compress', JSON.stringify(body), headers)
  expect(response.status).toBe(200)
  return (await response.json()) as CompressAnswer & { messages: Record<string, unknown>[] }
}
