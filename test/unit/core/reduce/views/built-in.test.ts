import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readPipelineConfig } from '../../../../../src/config/pipeline.ts'
import { builtInViews } from '../../../../../src/config/views.ts'
import type { EncodeRequest } from '../../../../../src/core/contract/encode.ts'
import { parseHint } from '../../../../../src/core/hints/hint-line.ts'
import { parseJson } from '../../../../../src/core/json/parse-json.ts'
import type { Value } from '../../../../../src/core/json/value.ts'
import { writeJson } from '../../../../../src/core/json/write-json.ts'
import { decodeOperation } from '../../../../../src/core/operations/decode.ts'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { pruneValue } from '../../../../../src/core/reduce/budget/prune-value.ts'
import { applyView } from '../../../../../src/core/reduce/views/apply-view.ts'
import { compileView, pickView } from '../../../../../src/core/reduce/views/compile-views.ts'
import { keysOf, namedBy } from '../../../../../src/core/reduce/views/view-facts.ts'
import { bodyOf } from '../../../../../src/core/verify/answer-body.ts'
import { localContext } from '../../../../support/local-context.ts'
import { SAMPLES } from './samples.ts'

const pipeline = readPipelineConfig({ data_dir: '/nowhere' })
const context = { ...localContext(), keepsOriginals: true, pipeline }
const views = (pipeline.knownViews ?? []).map(compileView)
const PLACE = { tool: undefined, shape: 'array_of_objects', endpointClass: () => 'x' }

const encode = (value: unknown, fields: Partial<EncodeRequest> = {}) =>
  encodeOperation.run(
    { content: JSON.stringify(value), response_budget: 'compact', ...fields },
    context,
  )

function show(content: unknown, level: 'standard' | 'compact') {
  const parsed = parseJson(JSON.stringify(content)) as { value: Value }
  const view = pickView(views, PLACE, () => keysOf(parsed.value))
  const shown = applyView(parsed.value, view!.rulesAt(level), namedBy(undefined))
  const { value } = parsed
  return { view, text: writeJson(shown === null ? value : pruneValue(value, shown.kept).value) }
}

/** Rows from which elision samples a list. */
const LONG = 40

function listsIn(value: unknown): unknown[][] {
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(listsIn)
  const isRows = Array.isArray(value) && typeof value[0] === 'object'
  return isRows ? [value, ...inner] : inner
}

const WITH_ROWS = SAMPLES.filter(({ value }) => listsIn(value).length > 0)

const longestList = (value: unknown) =>
  listsIn(value).reduce((best, list) => (list.length > best.length ? list : best), [])

/** The same value with more rows in its first list, the outermost one. */
function lengthened(value: unknown): unknown {
  const long = structuredClone(value)
  const [list] = listsIn(long)
  const rows = [...list!]
  while (list!.length < LONG) list!.push(...structuredClone(rows))
  return long
}

describe('a view that is built in', () => {
  it('a built-in view has a sample', () => {
    const names = builtInViews().map(({ name }) => name)
    expect(new Set(SAMPLES.map(({ view }) => view))).toEqual(new Set(names))
    expect(new Set(names).size).toBe(names.length)
  })

  it.each(SAMPLES)('$view shows its sample', ({ view, value, goes, stays }) => {
    const compact = show(value, 'compact')
    expect(compact.view?.name).toBe(view)
    const has = (word: string) => compact.text.includes(`"${word}"`)
    expect(goes.filter(has)).toEqual([])
    expect(stays.filter(word => !has(word))).toEqual([])
    expect(compact.text.length).toBeLessThanOrEqual(show(value, 'standard').text.length)
  })

  it.each(WITH_ROWS)('$view shows fewer fields of all rows', ({ value }) => {
    const long = lengthened(value)
    const { answer } = encode(long)
    const { content, format } = bodyOf(answer)!
    const left = decodeOperation.run({ content, format }, context).answer
    expect(longestList(long).length).toBeGreaterThanOrEqual(LONG)
    const rows = longestList(JSON.parse(show(long, 'compact').text)).length
    expect([0, longestList(long).length]).toContain(rows)
    expect(longestList(JSON.parse(left.content))).toHaveLength(rows)
  })

  it.each(SAMPLES)('$view changes nothing at the level full', ({ value }) => {
    const { answer } = encode(value, { response_budget: 'full' })
    expect(answer).toEqual(encodeOperation.run({ content: JSON.stringify(value) }, context).answer)
    const { content, format } = answer
    const decoded = decodeOperation.run({ content, format }, context).answer
    expect(JSON.parse(decoded.content)).toEqual(value)
  })
})

describe('an answer with a view', () => {
  const sample = SAMPLES.find(({ view }) => view === 'github')!

  it('has a marker with names and counts, its own figure, and its original first', () => {
    const { answer, keep, reports } = encode(sample.value)
    expect(answer).toMatchObject({ view: 'github', lossless: false, response_level: 'compact' })
    const marker = parseHint(answer.content.split('\n').at(-1)!)
    expect(marker).toMatchObject({
      family: 'elision',
      summary: expect.stringMatching(/node_id ×18/),
    })
    expect(Buffer.from(keep![0]!.bytes).toString()).toBe(JSON.stringify(sample.value))
    expect(answer.savings.view_tokens).toBe(answer.savings.elided_tokens)
    expect(answer.savings.view_tokens).toBeGreaterThan(100)
    expect(reports[0]?.row?.().sent.view).toBe('github')
  })

  it('has the lengths of the lists that are only counted', () => {
    const file = (at: number) => ({
      path: `lake/boat${at}.py`,
      is_dir: false,
      imports: ['os', 'sys', 'json', `lake.oar${at}`],
      test_functions: at === 0 ? ['test_a', 'test_b'] : [],
      line_count: 12 + at,
    })
    const { answer } = encode({ tree: Array.from({ length: 20 }, (_, at) => file(at)) })
    expect(answer.view).toBe('file-tree')
    expect(answer.content).toContain('imports ×20 (80 items), test_functions (2 items)')
  })

  it('is JSON with the marker inside if the request allows nothing else', () => {
    const { answer } = encode(sample.value, { formats: ['json_compact'] })
    const items = JSON.parse(answer.content)
    expect(items).toHaveLength(10)
    expect(items[0]).not.toHaveProperty('node_id')
    expect(parseHint(items.at(-1))?.family).toBe('elision')
  })

  it('keeps what the arguments name', () => {
    const formats = ['json_compact']
    const asked = encode(sample.value, { formats, args: { jq: '.[].html_url' } }).answer
    expect(asked.content).toContain('https://github.com/lake/boats/issues/3')
    expect(encode(sample.value, { formats }).answer.content).not.toContain(
      'github.com/lake/boats/issues',
    )
  })

  it('is not made of an error, or of an answer that failed', () => {
    expect(encode(sample.value, { is_error: true }).answer.lossless).toBe(true)
    const failed = {
      ...(sample.value as object[])[0],
      errors: ['no such lake'],
      filler: 'x'.repeat(2000),
    }
    expect(encode(failed).answer).not.toHaveProperty('view')
  })

  it('keeps failed items whole', () => {
    const items = (sample.value as object[]).map((each, at) =>
      at === 5 ? { ...each, conclusion: 'failure' } : each,
    )
    const { content } = encode(items, { formats: ['json_compact'] }).answer
    expect(content).toContain(`MDU6SXNzdWU${5 * 7919}`)
    expect(content).not.toContain(`MDU6SXNzdWU${4 * 7919}`)
  })
})

describe('docs/guide/views.md', () => {
  const text = readFileSync('docs/guide/views.md', 'utf8')

  it('has a row for every file of views, and no other', () => {
    const [, table = ''] = text.split('## Views that are built in')
    const named = [...table.matchAll(/`([a-z-]+\.toml)`/g)].map(([, file]) => file)
    expect(new Set(named)).toEqual(new Set(readdirSync('views')))
  })

  it('says how many views have not been met in sessions', () => {
    expect(text).toContain(`| the other ${views.length - 1} | none |`)
  })
})
