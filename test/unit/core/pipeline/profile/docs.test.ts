import { readFileSync } from 'node:fs'
import { parse } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { HINT_FAMILIES } from '../../../../../src/core/hints/hint.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../../src/core/pipeline/profile/resolve.ts'
import { isPriced, priceOfUse } from '../../../../../src/core/reading/price.ts'

const text = readFileSync(
  new URL('../../../../../docs/reference/configuration.md', import.meta.url),
  'utf8',
)
const example = /```toml\n([\s\S]*?)```/.exec(text)?.[1] ?? ''

describe('docs/reference/configuration.md', () => {
  it('names every family of hints', () => {
    for (const family of HINT_FAMILIES) expect(text).toContain(`\`${family}\``)
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
