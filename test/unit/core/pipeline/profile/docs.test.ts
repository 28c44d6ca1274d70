import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { HINT_FAMILIES } from '../../../../../src/core/hints/hint-policy.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../../src/core/pipeline/profile/resolve.ts'
import { isPriced, priceOfUse } from '../../../../../src/core/reading/price.ts'

const text = readFileSync(
  new URL('../../../../../docs/reference/profiles.md', import.meta.url),
  'utf8',
)
const example = /```toml\n([\s\S]*?)```/.exec(text)?.[1] ?? ''

/** Rows with a key of the file: its dotted name, and its default as it stands there. */
const rows = [...text.matchAll(/^\| `(\w+(?:\.\w+)+|schema_version)` \| (.+?) \|/gm)].map(
  ([, key = '', byDefault = '']) => ({ key, byDefault }),
)

/**
 * A file in which every variant, endpoint and family is there, with nothing but what it must have.
 */
const bare = pipelineSchema.parse({
  endpoint_overrides: { TOOL: {} },
  profiles: {
    tokenizer: { variants: { o200k_base: {} } },
    llm: { variants: { MODEL: {} } },
    agent: { variants: { NAME: {} } },
    data: { variants: { NAME: { endpoint_pattern: 'x' } } },
  },
  hints: { types: { format: {} } },
})

function at(key: string): unknown {
  const path = key.replace('.ID.', '.o200k_base.').replace('.FAMILY.', '.format.').split('.')
  return path.reduce<unknown>((inner, name) => (inner as Record<string, unknown>)?.[name], bare)
}

/** Dotted names of all keys with a default. */
function keysOf(value: object, before = ''): string[] {
  return Object.entries(value).flatMap(([name, inner]: [string, unknown]) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? keysOf(inner, `${before}${name}.`)
      : [before + name],
  )
}

describe('docs/reference/profiles.md', () => {
  it('has the default of every key', () => {
    expect(rows.length).toBeGreaterThan(30)
    for (const { key, byDefault } of rows) {
      if (!byDefault.startsWith('`')) continue
      expect(at(key), key).toEqual(parse(`x = ${byDefault.slice(1, -1)}`)['x'])
    }
  })

  it('the page of profiles has every key', () => {
    const named = rows.map(({ key }) => key)
    const keys = keysOf(bare).map(key =>
      key.replace('.o200k_base.', '.ID.').replace('.format.', '.FAMILY.'),
    )
    expect(named).toEqual(expect.arrayContaining(keys.filter(key => !key.endsWith('.active'))))
    for (const family of HINT_FAMILIES) expect(text).toContain(`\`${family}\``)
  })

  it('has no key that is none: each is taken where it stands, or refused for its value', () => {
    for (const { key } of rows) {
      const path = key.replace('.ID.', '.o200k_base.').replace('.FAMILY.', '.format.').split('.')
      const toml = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), Symbol())
      const issues = pipelineSchema.safeParse(toml).error?.issues ?? []
      expect(
        issues.map(({ code }) => code),
        key,
      ).not.toContain('unrecognized_keys')
      expect(
        issues.map(issue => issue.path.join('.')),
        key,
      ).toContain(path.join('.'))
    }
  })

  it('has an example that does what it says', () => {
    const config = pipelineSchema.parse(parse(example))
    const local = resolveProfile(config, { model: 'gpt-oss:20b', tool: 'Read' })
    expect(local.encoding.maxInlineNested).toBe(512)
    expect(isPriced(local.encoding.reading, 'table')).toBe(true)
    expect(local.dedup).toMatchObject({ lruSize: 10, near: true })
    expect(local.hints.types.format.enabled).toBe(true)
    const claude = resolveProfile(config, { model: 'claude-sonnet-4-6', tool: 'get_issues' })
    expect(priceOfUse(claude.encoding.reading, 'brackets')).toBe(0.5)
    expect(claude.preferred).toBe('md')
    expect(claude.hints.types.format.enabled).toBe(false)
    expect(resolveProfile(config, { tool: 'mcp__logs__tail' }).preferred).toBe('prefixed')
    expect(resolveProfile(config, { tool: 'TodoWrite' }).dedup.exact).toBe(false)
  })
})
