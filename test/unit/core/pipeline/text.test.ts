import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../../src/core/operations/encode.ts'
import { explainContent } from '../../../../src/core/pipeline/explain.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import { decode, type EncodeRequest, encode, explain } from '../../../../src/index.ts'
import { counters } from '../../../support/vocabularies.ts'

const lines = (...all: string[]): string => all.join('\n')
const read = Array.from({ length: 40 }, (_, i) => `${String(i + 1).padStart(6)}→line ${i}`).join(
  '\n',
)
const table = lines(
  '| name | team |',
  '|---|---|',
  ...Array.from({ length: 9 }, (_, i) => `| Ann Lee ${i} | north-${i} |`),
  '',
  'end',
)
const log = Array.from({ length: 9 }, (_, i) => `{"level":"info","n":${i},"msg":"started"}`).join(
  '\n',
)
const patch = [1, 2, 3, 4]
  .flatMap(() => [
    ...['diff --git a/src/a.ts b/src/a.ts', 'index 7c1e7ca..e38a6dd 100644'],
    ...['--- a/src/a.ts', '+++ b/src/a.ts', '@@ -6,2 +6,2 @@ run()', ' a', '-b', '+c'],
  ])
  .join('\n')
const matches = Array.from({ length: 29 }, (_, i) => `src/core/json/parse.ts:${i}:x`).join('\n')
const answer = `Here it is:\n${JSON.stringify({ rows: Array(9).fill({ id: 1, name: 'a b' }) }, null, 2)}\n`

/** What the answer decodes to. */
function restored(content: string, request: Partial<EncodeRequest> = {}): string {
  const { content: encoded, format } = encode({ content, ...request })
  return decode({ content: encoded, format }).content
}

describe('text', () => {
  it.each([
    ['numbered', read],
    ['ndjson', log],
    ['prefixed', matches],
    ['diff', patch],
  ])('goes out as %s, smaller, and comes back the same', (name, content) => {
    const { format, tokens, layer, lossless } = encode({ content })
    expect({ name: format.split('@')[0], layer, lossless }).toEqual({
      name,
      layer: 'L2',
      lossless: true,
    })
    expect(tokens.final).toBeLessThan(tokens.baseline)
    expect(restored(content)).toBe(content)
  })

  it('is encoded in the named formats only, also inside', () => {
    expect(encode({ content: read, formats: ['prefixed', 'csv'] }).format).toBe('passthrough')
    expect(encode({ content: log, formats: ['ndjson'] }).format).toBe('passthrough')
    expect(encode({ content: log, formats: ['ndjson@1', 'csv'] }).format).toBe(
      'ndjson@1;compact,csv@1',
    )
    expect(() => encode({ content: log, formats: ['ndjson@2'] })).toThrow(/unknown format/)
  })

  it('is decoded up to the limit only', () => {
    const { content, format } = encode({ content: read })
    expect(() => decode({ content, format: `${format}x` })).toThrow(/not_decodable/)
    expect(() => decode({ content: `${content}\n×999999999`, format: 'prefixed@1;dots' })).toThrow(
      /payload_too_large/,
    )
  })

  it.each([
    ['tables of one layout', () => '| a | b |\n|---|---|\n| some words | more |'],
    [
      'tables of many layouts',
      (i: number) => `| a | b |\n|${'-'.repeat(i + 1)}|---|\n| x y | more |`,
    ],
    [
      'alternating tables',
      (i: number) => `| a | b |\n|${'-'.repeat(3 + (i % 2))}|---|\n| x y | more |`,
    ],
  ])('with %s has a format that the decoder is given', (_, tableOf) => {
    const content = Array.from({ length: 60 }, (_, i) => tableOf(i)).join('\n\n')
    const { format } = encode({ content, formats: ['md'] })
    expect(format).toMatch(/^md@1;/)
    // The longest that a decode request takes.
    expect(format.length).toBeLessThanOrEqual(128)
    expect(restored(content, { formats: ['md'] })).toBe(content)
  })

  it('is reported under names of a fixed set', () => {
    const { reports } = encodeOperation.run({ content: log }, context())
    const sent = { layer: 'L2', format: 'ndjson@1' }
    expect(reports.map(({ row }) => row?.())).toMatchObject([{ sent, input: { shape: 'prose' } }])
  })

  it('is what is not JSON: values are left to their own formats', () => {
    const paths = Array.from({ length: 30 }, (_, i) => `/usr/lib/node/modules/${i}`)
    const content = JSON.stringify(paths, null, 2)
    expect(encode({ content, formats: ['prefixed', 'numbered', 'md'] }).format).toBe('passthrough')
  })

  it('that is a JSON scalar is text', () => {
    const content = JSON.stringify(read)
    expect(restored(content)).toBe(content)
  })
})

describe('content that looks like ours', () => {
  const encoded = [read, table, log, matches, answer].map(content => encode({ content }).content)

  it.each([
    ...encoded,
    ...encoded.map(content => `before\n${content}\nafter`),
    '> [ref: 0a1b2c3d, byte-identical]',
    '> [+18 more. call get_issues(page=2)]',
    '> [encoded: csv from markdown-table | rows=18]\nid,name\n1,a',
    `${table}\n\n${encoded[1]}`,
    `${matches}\n${encoded[3]}`,
    `${read}\n→\n${encoded[0]}`,
    `${answer}${encoded[4]}`,
    '[Retrieve original: hash=0123456789abcdef01234567]',
    'tree@2\nid,name\n1,a',
  ])('round-trips as content: %#', content => {
    expect(restored(content)).toBe(content)
  })
})

describe('templates of L1', () => {
  const pipeline = pipelineSchema.parse({
    templates: {
      endpoint_overrides: {
        get_issues: 'csv_from_md',
        get_diffs: 'mr_diff_fence',
        get_pipeline: 'pipeline_deep_mckp',
      },
    },
  })
  const diff = Array.from({ length: 9 }, (_, i) =>
    lines(
      `@@ -${i},2 +${i},2 @@`,
      `-\tconst a = "${i}"`,
      `+\tconst a = "${i + 1}"`,
      ' \tconst b = a',
    ),
  ).join('\n')

  function layerOf(content: string, tool?: string) {
    const request = { content, ...(tool === undefined ? {} : { tool }) }
    const { layer, format } = encodeOperation.run(request, { ...context(), pipeline }).answer
    return `${layer} ${format}`
  }

  it('are used where the endpoint is listed, and the template fits', () => {
    expect(layerOf(table, 'get_issues')).toBe('L1 md@1;s-t-3')
    expect(layerOf(table, 'get_merge_requests')).toBe('L3 passthrough')
    expect(layerOf(table)).toBe('L3 passthrough')
    // It says so, because this endpoint's results usually are something else.
    expect(layerOf(read, 'get_issues')).toBe('L2 noted@1,1,0;numbered@1;arrow')
    expect(layerOf('words', 'get_issues')).toBe('L3 passthrough')
  })

  it('keep a diff as lines, and its siblings', () => {
    const content = JSON.stringify({
      mr_id: 7,
      diffs: [{ path: 'a.ts', flags: { new: false }, diff }],
    })
    expect(layerOf(content, 'get_diffs')).toBe('L1 tree@2')
    expect(layerOf(content, 'get_pipeline')).toBe('L1 tree@2')
    const { content: encoded, format } = encode({ content, formats: ['tree'] })
    expect(encoded).toContain(diff)
    expect(decode({ content: encoded, format }).content).toBe(content)
  })

  it('are off by default', () => {
    expect(encode({ content: table, tool: 'get_issues' }).layer).toBe('L3')
  })
})

describe('explain', () => {
  it('says what became of each candidate, the sent one first', () => {
    const rows = explain({ content: matches }).candidates
    const tokens = encode({ content: matches }).tokens.final
    expect(rows[0]).toMatchObject({ layer: 'L2', format: 'prefixed@1;dots', tokens })
    expect(rows[0]).toMatchObject({ verdict: 'sent', constructs: { heading: 1 } })
    expect(rows[0]!.price).toBeGreaterThan(tokens + 30)
    expect(rows.slice(1).map(({ verdict }) => verdict)).not.toContain('sent')
  })

  it('names what could not say it, and what was bigger', () => {
    const forged = `${table}\n\n\`\`\`csv\na,b\n\`\`\``
    expect(explain({ content: forged, formats: ['md'] }).candidates).toContainEqual(
      expect.objectContaining({ format: 'md@1', verdict: 'declined', tokens: null }),
    )
    expect(explain({ content: '{"a":[1]}', formats: ['tree'] }).candidates).toEqual([
      expect.objectContaining({ format: 'tree@2', verdict: expect.stringMatching(/sent|bigger/) }),
    ])
  })

  it('stops where the encoder does', () => {
    const pipeline = pipelineSchema.parse({
      templates: { endpoint_overrides: { t: 'csv_from_md' } },
    })
    const { candidates: rows } = explainContent(
      { content: table, tool: 't' },
      { ...context(), pipeline },
    )
    expect(rows.map(({ layer, verdict }) => `${layer} ${verdict}`)).toEqual(['L1 sent'])
    expect(explain({ content: 'words' }).candidates).toEqual([])
  })
})

function context() {
  return { counters, maxDepth: 256, maxDecodedChars: 1_000_000, keepsOriginals: true }
}
