import { describe, expect, it } from 'vitest'
import type { EncodeAnswer, EncodeRequest } from '../../../../src/core/contract/encode.ts'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { READING_LEVELS, type ReadingLevel } from '../../../../src/core/reading/constructs.ts'
import { decode } from '../../../../src/index.ts'
import { counters } from '../../../support/vocabularies.ts'

/**
 * The answer under a configuration, which decodes to the same value and is no bigger, whatever it
 * says.
 */
function encodeWith(
  config: object,
  content: unknown,
  request: Partial<EncodeRequest> = {},
): EncodeAnswer {
  const text = typeof content === 'string' ? content : JSON.stringify(content, null, 2)
  const pipeline = pipelineSchema.parse(config)
  const context = {
    counters,
    maxDepth: 256,
    maxDecodedChars: 1_000_000,
    keepsOriginals: false,
    pipeline,
  }
  const { answer } = encodeOperation.run({ content: text, ...request }, context)
  const { format, tokens } = answer
  const decoded = decode({ content: answer.content, format }).content
  if (typeof content === 'string') expect(decoded).toBe(content)
  else expect(JSON.parse(decoded)).toEqual(content)
  expect(tokens.final).toBeLessThanOrEqual(tokens.baseline)
  return answer
}

const lines = (...all: string[]): string => all.join('\n')
const llm = (variant: object, name = 'default') => ({
  profiles: { llm: { variants: { [name]: variant } } },
})
const thresholds = (shape_thresholds: object) => ({ mckp: { shape_thresholds } })
const cost = (id: string, inline_json_cost: number) => ({
  profiles: { tokenizer: { variants: { [id]: { inline_json_cost } } } },
})

describe('inline_json_cost', () => {
  const content = { name: 'north', tags: ['red one', 'blue two'] }
  const cells = [0, 1, 2, 3].map(id => ({ id, meta: id % 2 === 0 ? { size: id } : ['a b'] }))

  it('weighs brackets behind a key, so that lines are written instead', () => {
    expect(encodeWith({}, content).content).toContain('tags:["red one","blue two"]')
    expect(encodeWith(cost('o200k_base', 2.2), content).content).toBe(
      lines('name: north', 'tags:', '- red one', '- blue two'),
    )
  })

  it('weighs brackets in cells of every kind of table, and JSON on a line', () => {
    expect(encodeWith({}, cells).content).toContain('{size:0}')
    const { content: dear, format } = encodeWith(cost('o200k_base', 5), cells)
    expect(format).toBe('tree@2')
    expect(dear).not.toMatch(/[[{]/)
  })

  it('weighs them in JSON inside a text too', () => {
    const log = cells.map(row => JSON.stringify(row)).join('\n')
    const config = { ...cost('o200k_base', 5), reading: { prices: { json_lines: 0 } } }
    const { content: dear, format } = encodeWith(config, log, {
      formats: ['ndjson', 'csv', 'tree'],
    })
    expect(format).toBe('ndjson@1;compact,tree@2')
    expect(dear).not.toMatch(/[[{]/)
  })

  it('is a price of brackets, which counts at each level but dense', () => {
    const byName = { reading: { prices: { brackets: { each: 1.2 } } } }
    const written = (config: object, reading: ReadingLevel) =>
      encodeWith(config, content, { reading }).content
    for (const level of READING_LEVELS) {
      expect(written(cost('o200k_base', 2.2), level)).toBe(written(byName, level))
    }
    expect(written(byName, 'dense')).toContain('["red one"')
    // What is said of the construct by name comes first.
    const free = { reading: { prices: { brackets: { each: 0 } } } }
    expect(written({ ...cost('o200k_base', 2.2), ...free }, 'balanced')).toContain('["red one"')
    for (const brackets of [1, { text: 1 }, { share: 0.1, each: 1 }]) {
      expect(pipelineSchema.safeParse({ reading: { prices: { brackets } } }).success).toBe(false)
    }
  })

  it('is of the tokenizer that counts for the model', () => {
    const config = cost('anthropic_class', 2.2)
    const written = (model: string) => encodeWith(config, content, { model }).content
    expect(written('claude-sonnet-4-6')).toContain('- red one')
    expect(written('gpt-5')).toContain('["red one"')
  })

  it('can be that of another tokenizer, by the model or for all', () => {
    const weights = cost('anthropic_class', 2.2).profiles
    const byModel = { profiles: { ...weights, ...llm({ tokenizer: 'anthropic_class' }).profiles } }
    const forAll = { profiles: { tokenizer: { ...weights.tokenizer, active: 'anthropic_class' } } }
    for (const config of [byModel, forAll]) {
      const { content: written, tokens } = encodeWith(config, content, { model: 'gpt-5' })
      expect(written).toContain('- red one')
      // What counts is not changed by what weighs.
      expect(tokens.tokenizer).toBe('openai_o200k')
    }
  })
})

describe('prefer_explicit_keys', () => {
  const words = 'a longer text that makes the keys a small part of what it takes all in all'
  const rows = [{ note: words, more: `${words} again` }]

  it('takes keys where a table is not clearly shorter', () => {
    expect(encodeWith({}, rows).content).toMatch(/^\[1\]:\nnote,more\n/)
    expect(encodeWith(llm({ prefer_explicit_keys: true }), rows).content).toMatch(/note: ?a longer/)
  })

  it('holds for tables inside, and leaves those that are', () => {
    const long = `so ${words.repeat(3)}`
    const inside = { id: 1, rows: [{ note: `${long} at last` }, { note: `and ${long}` }] }
    const many = { id: 1, rows: Array.from({ length: 9 }, (_, id) => ({ id, first_name: 'Ann' })) }
    const prefers = llm({ prefer_explicit_keys: true })
    expect(encodeWith({}, inside).content).toContain('rows[2')
    expect(encodeWith(prefers, inside).content).not.toContain('rows[2')
    expect(encodeWith(prefers, many).content).toContain('rows[9')
  })

  it('is a price of tables, which the gate counts too', () => {
    const byName = (table: object | number) => ({ reading: { prices: { table } } })
    const written = (config: object, reading?: ReadingLevel) =>
      encodeWith(config, rows, reading && { reading }).content
    expect(written(byName({ each: 0.06 }))).toMatch(/note: ?a longer/)
    expect(written(byName({ each: 0.06 }), 'dense')).toMatch(/^\[1\]:\nnote,more\n/)
    expect(written(byName(30))).not.toMatch(/note,more/)
    const many = Array.from({ length: 9 }, (_, id) => ({ id, ok: true }))
    const dear = { ...byName(10_000), mckp: { formats_enabled: ['csv'] } }
    expect(encodeWith({ mckp: dear.mckp }, many).format).toBe('csv@1')
    expect(encodeWith(dear, many).format).toBe('passthrough')
  })

  it('is of the model', () => {
    const config = llm({ prefer_explicit_keys: true }, 'claude-sonnet-4.6')
    const written = (model: string) => encodeWith(config, rows, { model }).content
    expect(written('anthropic/claude-sonnet-4-6-20260101')).not.toMatch(/^\[1\]:\nnote,more\n/)
    expect(written('gpt-5')).toMatch(/^\[1\]:\nnote,more\n/)
  })
})

describe('max_inline_nested', () => {
  const list = { path: 'x', values: Array.from({ length: 12 }, (_, i) => `${i} of ${i * i}`) }
  const cells = [0, 1, 2].map(id => ({ id, values: [id, 10, 20, 30, 40] }))

  it('puts longer values on lines, and leaves shorter ones in brackets', () => {
    expect(encodeWith({}, list).content).toMatch(/values:\["?0 of 0/)
    expect(encodeWith(llm({ max_inline_nested: 200 }), list).content).toMatch(/values:\["?0 of 0/)
    expect(encodeWith(llm({ max_inline_nested: 20 }), list).content).toContain('\n- 11 of 121')
  })

  it('max_inline_nested holds for cells of tables', () => {
    expect(encodeWith({}, cells).format).toBe('csv@1')
    expect(encodeWith(llm({ max_inline_nested: 8 }), cells).content).not.toContain('[')
  })

  it('holds for rows inside a cell', () => {
    const rows = [1, 2, 3].map(id => ({ id, jobs: [1, 2, 3].map(n => ({ n, took: id * n })) }))
    expect(encodeWith({}, rows).content).toContain(';')
    expect(encodeWith(llm({ max_inline_nested: 8 }), rows).content).not.toContain(';')
  })
})

describe('recursion_depth', () => {
  const deep = { a: { t: 'some words', b: { t: 'more words', c: { t: 'yet more', d: ['e f'] } } } }
  const dear = cost('o200k_base', 5)
  const levels = (config: object) =>
    Math.max(
      ...encodeWith({ ...dear, ...config }, deep)
        .content.split('\n')
        .map(indentOf),
    )
  const indentOf = (line: string) => line.search(/\S/)

  it('is how deep lines go', () => {
    expect(levels({})).toBeGreaterThan(2)
    expect(levels({ mckp: { recursion_depth: 2 } })).toBe(2)
    expect(levels({ mckp: { recursion_depth: 1 } })).toBe(1)
  })

  it('is of the agent where it has one', () => {
    const agent = { active: 'shallow', variants: { shallow: { recursion_depth: 1 } } }
    expect(levels({ mckp: {}, profiles: { ...dear.profiles, agent } })).toBe(1)
  })
})

describe('formats_enabled', () => {
  const rows = [1, 2, 3].map(id => ({ id, name: 'north gate' }))
  const log = Array(9)
    .fill(rows)
    .flat()
    .map(row => JSON.stringify(row))
    .join('\n')

  it('are all that is written, also inside a text', () => {
    const only = (...formats_enabled: string[]) => ({ mckp: { formats_enabled } })
    expect(encodeWith({}, rows).format).toBe('tree@2')
    expect(encodeWith(only('json_compact'), rows).format).toBe('json_compact@1')
    expect(encodeWith(only('md', 'numbered'), rows).format).toBe('passthrough')
    expect(encodeWith(only('ndjson', 'csv'), log).format).toBe('ndjson@1;compact,csv@1')
    expect(encodeWith(only('csv'), log).format).toBe('passthrough')
  })

  it('are narrowed by those that the request names', () => {
    const config = { mckp: { formats_enabled: ['csv', 'json_compact'] } }
    expect(encodeWith(config, rows, { formats: ['csv', 'tree'] }).format).toBe('csv@1')
    expect(encodeWith(config, rows, { formats: ['tree'] }).format).toBe('passthrough')
  })
})

describe('shape_thresholds', () => {
  it('array_of_objects_min_items: shorter lists are no tables, at any depth', () => {
    const rows = [1, 2, 3].map(id => ({ id, name: 'north gate' }))
    const config = thresholds({ array_of_objects_min_items: 4 })
    expect(encodeWith(config, rows).content).not.toContain('id,name')
    expect(encodeWith({}, { a: 1, rows }).content).toContain('rows[3')
    expect(encodeWith(config, { a: 1, rows }).content).not.toContain('rows[3')
    expect(encodeWith(config, { a: 1, rows: [...rows, ...rows] }).content).toContain('rows[6')
  })

  it('array_of_objects_min_key_stability: nor are lists whose keys differ', () => {
    const rows = [{ id: 1, name: 'Ann' }, { id: 2 }, { id: 3 }, { id: 4 }, { id: 5 }, { id: 6 }]
    const config = thresholds({ array_of_objects_min_key_stability: 0.7 })
    expect(encodeWith({}, rows).content).toContain('id,name')
    expect(encodeWith(config, rows).content).not.toContain('id,name')
    expect(encodeWith({}, { a: 1, rows }).content).toContain('rows[6')
    expect(encodeWith(config, { a: 1, rows }).content).not.toContain('rows[6')
    expect(encodeWith(config, [rows[0], rows[0], rows[0]]).content).toContain('[3')
  })

  it('flat_object_min_fields: smaller objects stay in brackets', () => {
    const flat = { name: 'north gate', note: 'some words here', state: 'wide open' }
    const config = thresholds({ flat_object_min_fields: 4 })
    expect(encodeWith({}, flat).content).toMatch(/^name: /)
    expect(encodeWith(config, flat).content).toMatch(/^\{/)
    expect(encodeWith(config, { ...flat, more: 1 }).content).toMatch(/^name: /)
    const dear = cost('o200k_base', 5)
    expect(encodeWith(dear, { a: flat, b: 'c' }).content).toContain('\n name: ')
    expect(encodeWith({ ...dear, ...config }, { a: flat, b: 'c' }).content).not.toContain('\n name')
  })

  it('markdown_table_min_cols: narrower tables stay as they are', () => {
    const table = (...cells: string[]) =>
      lines(
        ...[cells, cells.map(() => '---'), ...Array(9).fill(cells)].map(
          row => `| ${row.join(' | ')} |`,
        ),
      )
    const config = thresholds({ markdown_table_min_cols: 3 })
    const both = lines(table('one', 'two'), '', table('one', 'two', 'three'))
    expect(encodeWith({}, both, { formats: ['md'] }).content).not.toContain('| one |')
    const { content } = encodeWith(config, both, { formats: ['md'] })
    expect(content).toContain('| one | two |\n')
    expect(content).toContain('one,two,three')
  })
})

describe('templates', () => {
  const table = lines('| a | b |', '|---|---|', ...Array(9).fill('| some words | more words |'))
  const asked = (config: object, tool = 'list_issues') => encodeWith(config, table, { tool }).layer
  const overrides = { endpoint_overrides: { list_issues: 'csv_from_md' } }

  it('are L1 for the tools that they are set for', () => {
    expect(asked({ templates: overrides })).toBe('L1')
    expect(asked({ templates: overrides }, 'list')).toBe('L3')
    expect(asked({})).toBe('L3')
    expect(asked({}, 'constructor')).toBe('L3')
  })

  it('are none where they are not active', () => {
    const active = ['mr_diff_fence']
    expect(asked({ templates: { ...overrides, active } })).toBe('L3')
    expect(asked({ templates: { ...overrides, active: [...active, 'csv_from_md'] } })).toBe('L1')
  })

  it('can be the preferred format of data, as can any format', () => {
    const data = (preferred_format: string, endpoint_pattern = 'list_') => ({
      profiles: { data: { variants: { lists: { endpoint_pattern, preferred_format } } } },
    })
    expect(asked(data('csv_from_md'))).toBe('L1')
    expect(asked(data('md'))).toBe('L1')
    expect(asked(data('md'), 'get_list_')).toBe('L3')
    const rows = [1, 2, 3].map(id => ({ id, name: 'north gate' }))
    const { layer, format } = encodeWith(data('csv'), rows, { tool: 'list_gates' })
    expect({ layer, format }).toEqual({ layer: 'L1', format: 'csv@1' })
  })
})
