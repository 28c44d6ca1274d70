import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { AjvJsonSchemaValidator } from '@modelcontextprotocol/sdk/validation/ajv-provider.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ListKind } from '../../../../src/mcp/catalogue/catalogue.ts'
import { mendEntry } from '../../../../src/mcp/catalogue/lists/mend-entry.ts'
import { runs } from '../../../support/runs.ts'

const INPUT = { type: 'object' }

function mended(kind: ListKind, entry: object) {
  const found = mendEntry(kind, Buffer.from(JSON.stringify(entry)))
  return found.kind === 'mended'
    ? { members: found.members, entry: JSON.parse(found.raw.toString()) as unknown }
    : found.kind
}

describe('a tool', () => {
  it.each<[string, object, object | 'left out' | 'fine']>([
    ['as it should be', { inputSchema: INPUT, description: 'x', _meta: {} }, 'fine'],
    ['with what is not known', { inputSchema: { ...INPUT, x: 1 }, y: null }, 'fine'],
    [
      'with the empty object of PHP',
      { inputSchema: { type: 'object', properties: [], required: [] } },
      { inputSchema: { type: 'object', properties: {}, required: [] } },
    ],
    ['without a schema', {}, { inputSchema: INPUT }],
    [
      'with a schema of several types',
      { inputSchema: { type: ['object', 'null'] } },
      { inputSchema: INPUT },
    ],
    [
      'with a schema without a type',
      { inputSchema: { anyOf: [{ type: 'object' }] } },
      { inputSchema: { anyOf: [{ type: 'object' }], type: 'object' } },
    ],
    ['with a schema of texts', { inputSchema: { type: 'string' } }, 'left out'],
    ['with a text for a schema', { inputSchema: 'x' }, 'left out'],
    [
      'with a text for a property',
      { inputSchema: { ...INPUT, properties: { a: 'x' } } },
      'left out',
    ],
    [
      'with flags for properties',
      { inputSchema: { ...INPUT, properties: { a: true, b: false, c: [] } } },
      { inputSchema: { ...INPUT, properties: { a: {}, b: { not: {} }, c: {} } } },
    ],
    [
      'with nulls',
      {
        inputSchema: INPUT,
        description: null,
        title: null,
        annotations: null,
        outputSchema: null,
        _meta: null,
      },
      { inputSchema: INPUT },
    ],
    [
      'with wrong hints',
      { inputSchema: INPUT, annotations: { readOnlyHint: 'yes', title: 'x' } },
      { inputSchema: INPUT, annotations: { title: 'x' } },
    ],
    [
      'with an output of another type',
      { inputSchema: INPUT, outputSchema: { type: 'array' } },
      'fine',
    ],
    [
      'with an output that no validator can be made of',
      {
        inputSchema: INPUT,
        outputSchema: { type: 'object', properties: { a: { $ref: '#/$defs/B' } } },
      },
      { inputSchema: INPUT },
    ],
  ])('%s', (_, given, expected) => {
    const entry = { name: 'a', ...given }
    const found = mended('tools', entry)
    if (typeof expected === 'string') expect(found).toBe(expected)
    else expect(found).toMatchObject({ entry: { name: 'a', ...expected } })
    if (typeof found === 'object')
      expect(found.entry).toEqual({ name: 'a', ...(expected as object) })
  })

  it('keeps all bytes of what is right', () => {
    const raw =
      '{ "name":"a", "x": 1.10, "description": null, "inputSchema":{"type":"object","n":9007199254740993} }'
    const found = mendEntry('tools', Buffer.from(raw))
    expect(found.kind === 'mended' && found.raw.toString()).toBe(
      '{ "name":"a", "x": 1.10,  "inputSchema":{"type":"object","n":9007199254740993} }',
    )
  })
})

describe('other entries', () => {
  it.each<[ListKind, object, object | 'left out']>([
    ['prompts', { name: 'a', arguments: {} }, { name: 'a' }],
    [
      'prompts',
      { name: 'a', arguments: [{ name: 'b', required: 'yes' }] },
      { name: 'a', arguments: [{ name: 'b' }] },
    ],
    ['prompts', { name: 'a', arguments: [{ required: true }] }, 'left out'],
    ['resources', { uri: 'a:b', size: '4' }, { uri: 'a:b', name: 'a:b' }],
    [
      'resources',
      { uri: 'a:b', name: 'c', annotations: { priority: 4 } },
      { uri: 'a:b', name: 'c', annotations: {} },
    ],
    [
      'templates',
      { uriTemplate: 'a:{b}', name: null, mimeType: 3 },
      { uriTemplate: 'a:{b}', name: 'a:{b}' },
    ],
  ])('%s: %j', (kind, entry, expected) => {
    const found = mended(kind, entry)
    expect(typeof found === 'object' ? found.entry : found).toEqual(expected)
  })
})

const SCHEMAS = {
  tools: [ListToolsResultSchema, 'tools'],
  prompts: [ListPromptsResultSchema, 'prompts'],
  resources: [ListResourcesResultSchema, 'resources'],
  templates: [ListResourceTemplatesResultSchema, 'resourceTemplates'],
} as const

const NAMES = [
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  '_meta',
  'icons',
  'execution',
  'arguments',
  'size',
  'mimeType',
  'name',
]
const INNER = [
  'type',
  'properties',
  'required',
  'a',
  'name',
  'src',
  'sizes',
  'theme',
  'audience',
  'priority',
  'lastModified',
  'taskSupport',
  'readOnlyHint',
  '$ref',
  'pattern',
  'anyOf',
  'items',
]
const SCALAR = fc.constantFrom<unknown>(
  null,
  true,
  0,
  2,
  'object',
  'string',
  'x',
  '#/a',
  '(',
  'user',
  'any',
  '2026-01-01T00:00:00Z',
)
const { value: VALUE } = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    SCALAR,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...INNER), tie('value'), { maxKeys: 4 }),
  ),
}))

it.each(Object.keys(SCHEMAS) as ListKind[])('clients take any mended entry of %s', kind => {
  const [schema, member] = SCHEMAS[kind]
  const key = { tools: 'name', prompts: 'name', resources: 'uri', templates: 'uriTemplate' }[kind]
  const validator = new AjvJsonSchemaValidator()
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...NAMES), VALUE), given => {
      const entry = { ...given, [key]: 'a:b' }
      const found = mendEntry(kind, Buffer.from(JSON.stringify(entry)))
      if (found.kind === 'left out') return
      const sent =
        found.kind === 'fine' ? entry : (JSON.parse(found.raw.toString()) as typeof entry)
      const { outputSchema } = sent as { outputSchema?: { type?: unknown } | null }
      // Elsewhere the name means nothing, and clients make no validator of it.
      const output = kind === 'tools' ? outputSchema : undefined
      // Dropped for such clients when it is listed.
      if (output !== undefined && output?.type !== 'object')
        Reflect.deleteProperty(sent, 'outputSchema')
      expect(schema.safeParse({ [member]: [sent] }).error).toBeUndefined()
      if (output?.type === 'object')
        expect(() => validator.getValidator(output as { type: 'object' })).not.toThrow()
    }),
    { numRuns: runs(2_000) },
  )
})
