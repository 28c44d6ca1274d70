import { describe, expect, it } from 'vitest'
import { callKey, canonicalArguments } from '../../../../src/core/enrich/call-key.ts'
import { projectCalls } from '../../../../src/core/enrich/projections.ts'
import { listValues, readTrigger } from '../../../../src/core/enrich/result-values.ts'
import { addressedHosts, hostsOf } from '../../../../src/core/enrich/url-arguments.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import type { ObjectValue, Value } from '../../../../src/core/json/value.ts'

function read(json: string): Value {
  const parsed = parseJson(json)
  if (!parsed.ok) throw new Error(json.slice(0, 80))
  return parsed.value
}

const objectOf = (json: string) => read(json) as ObjectValue

function project(
  text: string,
  projection: string,
  argument: string,
  schema?: string,
  trigger?: string,
) {
  const link = { tool: 't', probability: 0.5, projection, projection_arg: argument }
  const target = {
    inputSchema: schema === undefined ? undefined : read(schema),
    triggerArgs: trigger === undefined ? undefined : read(trigger),
  }
  return projectCalls(link, readTrigger(text), target)
}

const argsOf = (...parameters: Parameters<typeof project>) =>
  project(...parameters).map(({ args }) => args)

// SOURCES.md#planner, "Projection extractors": built-in ones for Glob, Grep and WebSearch, generic
// JSON.
describe('values of a result', () => {
  it.each([
    ['lines of paths', 'src/a.ts\nsrc/b.ts\n', ['src/a.ts', 'src/b.ts']],
    ['a headline above them', 'Found 2 files\n/x/a.ts\n/x/b.ts', ['/x/a.ts', '/x/b.ts']],
    ['matches with line numbers', 'src/a.ts:12:  x\nsrc/a.ts:13:y\nb.md:1:z', ['src/a.ts', 'b.md']],
    ['matches with columns', 'src/a.ts:12:4: x', ['src/a.ts']],
    ['paths of Windows', 'C:\\a\\b.ts:3:x\nC:\\c.ts', ['C:\\a\\b.ts', 'C:\\c.ts']],
    ['no match', 'No files found', []],
    ['a remark', '(Results are truncated. Consider using a more specific path.)', []],
    ['numbered lines', '12:src/a.ts\n13-src/b.ts', []],
    ['prose with a slash', 'and/or this is a sentence with words', []],
    ['an array of paths', '["a.ts","b.ts"]', ['a.ts', 'b.ts']],
    ['objects with paths', '[{"path":"a.ts","line":1},{"path":"b.ts"}]', ['a.ts', 'b.ts']],
    ['another name for them', '{"matches":[{"file":"a.ts"},{"file":"b.ts"}]}', ['a.ts', 'b.ts']],
    ['a list under such a name', '{"filenames":["a.ts","b.ts"],"n":2}', ['a.ts', 'b.ts']],
  ])('are paths: %s', (_, text, expected) => {
    expect(listValues(readTrigger(text), 'path').values).toEqual(expected)
    expect(listValues(readTrigger(text), 'match_path').values).toEqual(expected)
  })

  it.each([
    ['search results', '{"results":[{"title":"t","url":"https://a.b/c"},{"url":"https://d.e"}]}'],
    ['a list', '["https://a.b/c","https://d.e"]'],
    ['text', '1. T - https://a.b/c.\n2. <https://d.e>, http:no, https://d.e'],
  ])('are URLs: %s', (_, text) => {
    expect(listValues(readTrigger(text), 'url').values).toEqual(['https://a.b/c', 'https://d.e'])
  })

  it.each([
    ['of a list', '[{"id":1},{"id":2}]', [1, 2]],
    ['in the first order', '{"data":{"items":[{"id":"b"},{"id":"a"},{"id":"b"}]}}', ['b', 'a']],
    ['not of what is inside', '[{"author":{"id":7},"id":1},{"author":{"id":8},"id":2}]', [1, 2]],
    ['in a list under the key', '{"id":[5,6]}', [5, 6]],
    ['at most three', '[{"id":1},{"id":2},{"id":3},{"id":4}]', [1, 2, 3]],
    ['scalars only', '[{"id":null},{"id":{"a":1}},{"id":""},{"id":true}]', [true]],
    ['none', '{"a":1}', []],
    ['of text', 'id: 4', []],
  ])('are under a key: %s', (_, text, expected) => {
    expect(listValues(readTrigger(text), 'id').values).toEqual(expected)
  })

  it('are counted, the same ones once', () => {
    expect(listValues(readTrigger('a/b\nc/d\na/b\ne/f\ng/h'), 'path').count).toBe(4)
    const many = JSON.stringify(Array.from({ length: 5_000 }, (_, id) => ({ id })))
    expect(listValues(readTrigger(many), 'id').count).toBe(1_000)
  })
})

describe('calls by a link', () => {
  it('have their places and the length of the list', () => {
    expect(project('[{"iid":4},{"iid":5}]', 'iid', 'id')).toEqual([
      { args: '{"id":4}', hosts: [], rank: 1, listed: 2 },
      { args: '{"id":5}', hosts: [], rank: 2, listed: 2 },
    ])
  })

  it('keep the spelling of numbers', () => {
    const text = '[{"id":12345678901234567890},{"id":1.0}]'
    expect(argsOf(text, 'id', 'id')).toEqual(['{"id":12345678901234567890}', '{"id":1.0}'])
    expect(
      argsOf(text, 'id', 'id', '{"type":"object","properties":{"id":{"type":"string"}}}'),
    ).toEqual(['{"id":"12345678901234567890"}', '{"id":"1.0"}'])
  })

  it('are none if the link names no value or no argument', () => {
    const link = { tool: 't', probability: 1, projection: 'id' }
    expect(projectCalls(link, readTrigger('{"id":1}'), {})).toEqual([])
    expect(projectCalls({ tool: 't', probability: 1 }, readTrigger('{"id":1}'), {})).toEqual([])
  })

  it('take over what the target requires and the trigger was called with', () => {
    const schema =
      '{"type":"object","required":["owner","repo","number"],"additionalProperties":false,"properties":{"owner":{"type":"string"},"repo":{},"number":{"type":"integer"},"page":{}}}'
    const trigger = '{"owner":"o","repo":"r","page":2}'
    expect(argsOf('[{"number":3}]', 'number', 'number', schema, trigger)).toEqual([
      '{"number":3,"owner":"o","repo":"r"}',
    ])
    expect(argsOf('[{"number":3}]', 'number', 'number', schema, '{"owner":"o"}')).toEqual([])
    expect(
      argsOf('[{"number":3}]', 'number', 'number', schema, '{"owner":"o","repo":["r"]}'),
    ).toEqual([])
  })

  it('do not take control characters', () => {
    expect(argsOf('[{"id":"a\\u0000b"},{"id":"c"}]', 'id', 'id')).toEqual(['{"id":"c"}'])
  })
})

describe('a result that is made to cost time', () => {
  it('of 10,000 levels is no JSON and has no values', () => {
    const deep = `${'{"id":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    expect(listValues(readTrigger(deep), 'id').values).toEqual([])
  })

  it('of many levels that are parsed is walked without recursion', () => {
    const deep = `${'{"a":'.repeat(120)}{"id":1}${'}'.repeat(120)}`
    expect(listValues(readTrigger(deep), 'id').values).toEqual([1])
  })

  it('of 10 MB is read in part', () => {
    const line = `src/${'x'.repeat(90)}.ts\n`
    const lines = line.repeat(100_000)
    expect(listValues(readTrigger(lines), 'path')).toMatchObject({ count: 1 })
    const long = 'x'.repeat(10_000_000)
    expect(listValues(readTrigger(long), 'path').values).toEqual([])
    expect(listValues(readTrigger(long), 'url').values).toEqual([])
    expect(listValues(readTrigger(`[${long}`), 'id').values).toEqual([])
  })

  it('with one long line of colons, spaces or URLs is read once', () => {
    const dots = `http://${'.'.repeat(600_000)}x ${'http://a...... '.repeat(18_000)}`
    for (const text of [
      ':'.repeat(600_000),
      ' a'.repeat(200_000),
      'http://'.repeat(80_000),
      dots,
    ]) {
      expect(listValues(readTrigger(text), 'path').values).toEqual([])
      expect(listValues(readTrigger(text), 'url').count).toBeLessThan(1_001)
    }
  })

  it('with wide lists is looked at in part', () => {
    const wide = `[${'[],'.repeat(600_000)}{"id":1}]`
    expect(listValues(readTrigger(wide), 'id').values).toEqual([])
  })
})

describe('addresses among arguments', () => {
  const known = new Set(['docs.example', 'docs.example:8443'])

  it.each([
    ['{"url":"https://docs.example/a"}', true],
    ['{"url":"https://DOCS.example/a"}', true],
    ['{"url":"https://docs.example:8443/"}', true],
    ['{"url":"https://docs.example:9/"}', false],
    ['{"url":"https://evil.example/?docs.example"}', false],
    ['{"url":"https://docs.example@evil.example/"}', false],
    ['{"url":"https://u:p@docs.example/"}', false],
    ['{"url":"file:///etc/passwd"}', false],
    ['{"url":"docs.example"}', false],
    ['{"query":"https:evil.example"}', false],
    ['{"query":"//evil.example"}', false],
    ['{"query":"\\\\\\\\evil.example\\\\a"}', false],
    ['{"query":" https://evil.example"}', false],
    ['{"query":"see https://evil.example"}', false],
    ['{"query":"data:text/html,x"}', false],
    ['{"query":"a word", "n": 5}', true],
    ['{"siteUrl":"x"}', false],
  ])('%s: %s', (args, expected) => {
    const hosts = addressedHosts(objectOf(args))
    expect(hosts?.every(host => known.has(host)) ?? false).toBe(expected)
  })

  // SOURCES.md#planner, "Projection extractors": the host of a URL.
  it('are remembered by their hosts', () => {
    expect(hostsOf(read('{"a":"https://U@A.b:1/x","c":"http://d","e":"f:g","h":1}'))).toEqual([
      'a.b:1',
      'd',
    ])
    expect(hostsOf('https://a.b')).toEqual([])
  })
})

describe('the key of a call', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    ['{"a":{"d":[1,{"f":1,"e":2}],"c":"x"}}', '{"a":{"c":"x","d":[1,{"e":2,"f":1}]}}'],
    ['{"a":1.0}', '{"a":1.0}'],
    ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a":null,"b":true,"c":"\\u00e9\\n"}', '{"a":null,"b":true,"c":"é\\n"}'],
    ['{"a":2,"a":1}', '{"a":2,"a":1}'],
    ['{}', '{}'],
  ])('of %s has sorted keys and the spelling of numbers', (args, expected) => {
    expect(canonicalArguments(read(args))).toBe(expected)
  })

  it('tells servers, tools and arguments apart', () => {
    const keys = [
      ...[callKey('a', 'b', '{}'), callKey('a', 'c', '{}'), callKey('b', 'b', '{}')],
      ...[callKey('a', 'b', '{"a":1}'), callKey('a', 'b', '{"a":1.0}')],
      callKey('a","b', '', '{}'),
    ]
    expect(new Set(keys).size).toBe(6)
  })

  it('does not exist for arguments that are nested too deeply', () => {
    const deep = `{"a":${'['.repeat(100)}${']'.repeat(100)}}`
    expect(canonicalArguments(read(deep))).toBeNull()
  })
})
