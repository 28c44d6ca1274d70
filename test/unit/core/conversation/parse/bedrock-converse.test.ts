import { describe, expect, it } from 'vitest'
import { messagePieces } from '../../../../../src/core/conversation/parse/shared-messages.ts'
import { scanned } from './scanned.ts'

const route = 'bedrock_converse'
const call = (toolUseId: string, name: string, input: unknown) => ({
  toolUse: { toolUseId, name, input },
})
const result = (toolUseId: string, content: readonly object[], status?: string) => ({
  toolResult: { toolUseId, content, status },
})
const by = (role: string, ...content: readonly object[]) => ({ role, content })
const scan = (...messages: readonly object[]) => scanned(route, { messages })
const POINT = { cachePoint: { type: 'default' } }

describe('tool results', () => {
  it('have the texts of their content, and the strings of its values', () => {
    const content = [{ text: 'one' }, { image: {} }, { json: { a: ['two'], n: 1 } }]
    const found = scan(
      by('assistant', call('c', 'get', { q: 1 })),
      by('user', result('c', content)),
    )
    const seen = found?.results.map(each => [each.part, each.text(), each.tool, each.args()])
    expect(seen).toEqual([
      [0, 'one', 'get', { q: 1 }],
      [1, 'two', 'get', { q: 1 }],
    ])
    expect(found?.results.map(({ isWhole }) => isWhole)).toEqual([false, false])
  })

  it('may be whole, and errors', () => {
    const found = scan(by('user', result('c', [{ text: 'no' }], 'error')))
    expect(found?.results).toMatchObject([{ isWhole: true, isError: true, callId: 'c' }])
    expect(scan(by('user', result('c', [{ text: 'a' }], 'success')))?.results).toMatchObject([
      { isError: false },
    ])
  })

  it('are left alone if they are not clear', () => {
    const body = (block: string) => `{"messages":[{"role":"user","content":[${block}]}]}`
    const clear = '{"toolResult":{"toolUseId":"c","content":[{"text":"a"}]}}'
    const twice = [
      '{"toolResult":{"toolUseId":"c","toolUseId":"d","content":[{"text":"a"}]}}',
      '{"toolResult":{"toolUseId":"c","content":[{"text":"a","text":"b"}]}}',
      '{"toolResult":{"toolUseId":"c","content":[{"text":"a"},{"text":"b","text":"c"}]}}',
    ]
    expect(scanned(route, body(clear))?.results).toHaveLength(1)
    for (const each of twice) expect(scanned(route, body(each))?.results).toEqual([])
  })
})

describe('cache points', () => {
  it('put what stands before them into the cached prefix', () => {
    const first = by('user', result('a', [{ text: 'x' }]), POINT, result('b', [{ text: 'y' }]))
    const found = scan(first)
    expect(found?.results.map(({ inCachedPrefix }) => inCachedPrefix)).toEqual([true, false])
  })

  it('are no part of what a message says', () => {
    const said = (...content: readonly object[]) => {
      const request = scan(by('user', ...content))
      return Buffer.concat(messagePieces(request!, 0)).toString()
    }
    const plain = said({ text: 'a' }, { text: 'b' })
    expect(said({ text: 'a' }, { text: 'b' }, POINT)).toBe(plain)
    expect(said({ text: 'a' }, POINT, { text: 'b' })).toBe(plain)
    expect(said(POINT, { text: 'a' }, { text: 'b' })).toBe(plain)
  })
})

describe('a request', () => {
  it('a request of Converse names its tools', () => {
    const toolConfig = { tools: [{ toolSpec: { name: 'get' } }, POINT] }
    expect(scanned(route, { toolConfig, messages: [] })?.tools).toEqual(['get'])
  })
})
