import { describe, expect, it } from 'vitest'
import { conversationName } from '../../../../../src/core/conversation/parse/conversation-name.ts'
import { scanned } from './scanned.ts'

const route = 'gemini_generate'
const said = (text: string) => ({ role: 'user', parts: [{ text }] })
const call = (name: string, args: unknown, id?: string) => ({ functionCall: { id, name, args } })
const answer = (name: string, response: unknown, id?: string) => ({
  functionResponse: { id, name, response },
})
const by = (role: string, ...parts: readonly object[]) => ({ role, parts })
const resultsOf = (...contents: readonly object[]) => scanned(route, { contents })?.results ?? []

describe('function responses', () => {
  it('have each string of their value as a text', () => {
    const response = { output: 'one', rows: [{ name: 'two', n: 1 }, ['three']], none: null }
    const found = resultsOf(by('model', call('get', { a: 1 })), by('user', answer('get', response)))
    const seen = found.map(each => [each.block, each.part, each.text(), each.tool, each.args()])
    expect(seen).toEqual([
      [0, 0, 'one', 'get', { a: 1 }],
      [0, 1, 'two', 'get', { a: 1 }],
      [0, 2, 'three', 'get', { a: 1 }],
    ])
    expect(found.map(({ isWhole }) => isWhole)).toEqual([false, false, false])
    const [only] = resultsOf(by('user', answer('get', { output: 'one' })))
    expect(only).toMatchObject({ isWhole: true, isError: false, tool: 'get' })
  })

  it('answer calls by id, or those of their name in order', () => {
    const calls = [call('get', 1, ''), call('get', 2), call('get', 3, 'x')]
    const answers = [answer('get', { a: '3' }, 'x'), answer('get', ['1']), answer('get', '2')]
    const found = resultsOf(by('model', ...calls), by('user', ...answers))
    expect(found.map(each => [each.text(), each.args(), each.callId])).toEqual([
      ['3', 3, 'x'],
      ['1', 1, undefined],
      ['2', 2, undefined],
    ])
    const nameless = { functionResponse: { response: { a: 'x' } } }
    const [of] = resultsOf(by('model', { functionCall: { args: 1 } }), by('user', nameless))
    expect(of).toMatchObject({ tool: undefined, callsAhead: undefined })
  })

  it('may be spelled with underscores, but not in both ways at once', () => {
    const body = { function_response: { name: 'get', response: { output: 'x' } } }
    expect(resultsOf(by('user', body)).map(each => each.text())).toEqual(['x'])
    expect(resultsOf(by('user', { ...body, ...answer('get', { output: 'y' }) }))).toEqual([])
  })

  it('are errors if they say so', () => {
    const [found] = resultsOf(by('user', answer('get', { error: 'no such file' })))
    expect(found).toMatchObject({ isError: true })
  })

  it('are left alone with a key twice, at any depth', () => {
    const body = (response: string) => {
      const part = `{"functionResponse":{"name":"get","response":${response}}}`
      return `{"contents":[{"role":"user","parts":[${part}]}]}`
    }
    expect(scanned(route, body('{"a":"x","b":"y"}'))?.results).toHaveLength(2)
    for (const twice of ['{"a":"x","a":"y"}', '{"o":[{"a":"x","\\u0061":"y"}]}']) {
      expect(scanned(route, body(twice))?.results).toEqual([])
    }
  })

  it('are left alone with very many strings, however deep', () => {
    const found = (count: number) =>
      resultsOf(by('user', answer('get', { rows: Array(count).fill({ a: 'x' }) }))).length
    expect(found(256)).toBe(256)
    expect(found(257)).toBe(0)
    let deep: unknown = 'x'
    for (let level = 0; level < 20; level++) deep = level % 2 === 0 ? [deep] : { deep }
    expect(resultsOf(by('user', answer('get', deep)))).toHaveLength(1)
  })
})

describe('a request', () => {
  it('names its tools, and its conversation by what it opens with', () => {
    const request = scanned(route, {
      tools: [
        { functionDeclarations: [{ name: 'get' }, { name: 'put' }] },
        { function_declarations: [{ name: 'list' }], googleSearch: {} },
      ],
      contents: [said('Begin.'), by('model', { text: 'Yes?' })],
    })
    expect(request?.tools).toEqual(['get', 'put', 'list'])
    const later = scanned(route, { contents: [said('Begin.'), by('model'), said('More.')] })
    const other = scanned(route, { contents: [said('Begin again.')] })
    expect(conversationName(request!)).toBe(conversationName(later!))
    expect(conversationName(request!)).not.toBe(conversationName(other!))
    expect(request?.opening).toBe(1)
    const withoutRole = { contents: [{ parts: [{ text: 'Begin.' }] }, by('model')] }
    expect(scanned(route, withoutRole)?.opening).toBe(1)
  })

  it('has a list of contents', () => {
    expect(scanned(route, { contents: 'x' })).toBeNull()
    expect(scanned(route, { messages: [] })).toBeNull()
  })
})
