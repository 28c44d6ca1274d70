import fc from 'fast-check'
import { Packr } from 'msgpackr'
import { describe, expect, it } from 'vitest'
import { ERRORS, type ErrorCode } from '../../../src/core/base/errors.ts'
import { problemSchema } from '../../../src/core/contract/problem.ts'
import { anyText } from '../../support/any-text.ts'
import { testApp } from '../../support/app.ts'
import { runs } from '../../support/runs.ts'

const ROUTES = ['/v1/encode', '/v1/decode', '/v1/count', '/v1/batch'] as const
/** What a body alone can be refused with; above all, never `internal`. */
const CODES: readonly ErrorCode[] = [
  ...([
    'invalid_request',
    'not_decodable',
    'budget_too_small',
    'unsupported_media_type',
    'overloaded',
  ] as const),
  // The last two for an input that is not kept.
  ...(['payload_too_large', 'not_found', 'gone'] as const),
]
const packr = new Packr({ useRecords: false, variableMapSize: true })
const { post, logged } = testApp()

/** Any UTF-16, lone surrogates too. */
const text = fc.oneof(
  anyText({ maxLength: 60 }),
  fc.array(fc.nat(0xffff), { maxLength: 30 }).map(units => String.fromCharCode(...units)),
)
/** Content that reaches the pipeline: what parses, what nearly does, tables. */
const content = fc.oneof(
  text,
  fc.json(),
  fc.json().map(json => json.slice(0, -1)),
  fc
    .array(fc.dictionary(fc.constantFrom('a', 'b', '__proto__', ''), fc.jsonValue({ maxDepth: 2 })))
    .map(rows => JSON.stringify(rows)),
  fc.array(text).map(cells => `|a|b|\n|-|-|\n${cells.map(cell => `|${cell}|x|`).join('\n')}`),
)
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  text,
  fc.constantFrom(-1, 1e300, null, 'o200k_base'),
)
const FIELDS = [
  ...['session', 'tool', 'args', 'tool_call_id', 'model', 'tokenizer', 'mode', 'budget_tokens'],
  ...['is_error', 'formats', 'strategy', 'level', 'query', 'pagination', 'sort', 'format'],
  ...['contents', 'jobs', 'op', 'input_ref', '__proto__', 'constructor', 'toString'],
]
const fields = fc.dictionary(fc.constantFrom(...FIELDS), odd, { maxKeys: 4 })
const format = fc.constantFrom('csv@1', 'tree@2', 'json_compact@1', 'passthrough', 'csv@9', 'x')
const mode = fc.constantFrom('lossless', 'elide', 'trim')

/** Bodies that are nearly right, for the route. */
const request = fc.oneof(
  fc.record({ content }),
  fc.record({ content, format }),
  fc.record({ content, mode, budget_tokens: fc.integer({ min: -1, max: 50 }) }),
  fc.tuple(fc.record({ content }), fields).map(([base, more]) => ({ ...base, ...more })),
  fields,
)
const envelope = fc.oneof(
  { weight: 5, arbitrary: request },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc
          .tuple(request, fc.constantFrom('encode', 'decode', 'count', 'batch', 'fly', '__proto__'))
          .map(([job, op]) => ({ ...job, op })),
        { maxLength: 4 },
      )
      .map(jobs => ({ jobs })),
  },
  { weight: 1, arbitrary: fc.jsonValue() },
)

interface Problem {
  readonly code: ErrorCode
  readonly status: number
}

/** What every answer must be: what was asked for, or a problem by its documented shape. */
async function expectDocumented(response: Response): Promise<void> {
  const id = response.headers.get('x-request-id')
  if (response.status === 200) {
    const bytes = Buffer.from(await response.arrayBuffer())
    const isJson = response.headers.get('content-type') === 'application/json'
    const answer = isJson ? JSON.parse(bytes.toString()) : packr.unpack(bytes)
    for (const result of (answer as { results?: { problem?: Problem }[] }).results ?? []) {
      if (result.problem !== undefined) expectProblem(result.problem)
    }
  } else {
    expect(response.headers.get('content-type')).toBe('application/problem+json')
    const problem = problemSchema.parse(await response.json())
    expectProblem(problem)
    expect([problem.status, problem.request_id]).toEqual([response.status, id])
  }
  expect(logged.filter(({ level }) => level === 'error')).toEqual([])
}

function expectProblem(problem: Problem): void {
  expect(CODES).toContain(problem.code)
  expect(problem.status).toBe(ERRORS[problem.code].status)
}

const route = fc.constantFrom(...ROUTES)
const media = fc.constantFrom('application/json', 'application/msgpack')

describe('any body', () => {
  it('that is nearly right is answered, or refused as documented', async () => {
    await fc.assert(
      fc.asyncProperty(route, envelope, media, media, async (path, body, type, accept) => {
        const isJson = type === 'application/json'
        const bytes = isJson ? JSON.stringify(body) : new Uint8Array(packr.pack(body))
        await expectDocumented(await post(path, bytes, { 'content-type': type, accept }))
      }),
      { numRuns: runs(1_000) },
    )
  })

  it('of any bytes is answered, or refused as documented', async () => {
    const bytes = fc.uint8Array({ maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(route, bytes, media, async (path, body, type) => {
        await expectDocumented(await post(path, new Uint8Array(body), { 'content-type': type }))
      }),
      { numRuns: runs(600) },
    )
  })

  it('with any headers is answered, or refused as documented', async () => {
    const value = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map(code => String.fromCharCode(code)),
    })
    const headers = fc.record(
      {
        'content-type': fc.oneof(
          value,
          media,
          media.map(type => `${type}; charset=utf-16`),
        ),
        accept: fc.oneof(value, fc.constantFrom('*/*', 'application/msgpack;q=0', '*/*;q=x,,;')),
        'content-encoding': fc.oneof(value, fc.constant('identity')),
        // Digits only, as the parser of a server lets them through.
        'content-length': fc.nat(300_000).map(String),
        'x-request-id': value,
        traceparent: value,
        'x-api-key': value,
        authorization: value,
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(route, headers, async (path, given) => {
        await expectDocumented(await post(path, '{"content":"a b"}', given))
      }),
      { numRuns: runs(500) },
    )
  })
})
