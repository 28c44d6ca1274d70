import { describe, expect, it } from 'vitest'
import { HINT_FAMILIES } from '../../../../../src/core/hints/hint.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../../src/core/pipeline/profile/resolve.ts'
import type { ProfileQuery } from '../../../../../src/core/pipeline/profile/sections.ts'
import { USUAL_READING } from '../../../../../src/core/reading/price.ts'

const resolve = (config: object, query: ProfileQuery = {}) =>
  resolveProfile(pipelineSchema.parse(config), query)

const enabled = (config: object, query?: ProfileQuery) => {
  const { hints } = resolve(config, query)
  return HINT_FAMILIES.filter(family => hints.enabled && hints.types[family].enabled)
}

/** Those that no rule needs to switch on. */
const USUAL_FAMILIES = HINT_FAMILIES.filter(family => family !== 'search_chain')

describe('the profile of a request', () => {
  it('without a configuration weighs nothing, prefers nothing, and allows every usual hint', () => {
    expect(resolveProfile(undefined, {})).toEqual(resolve({}))
    expect(resolve({}, { model: 'claude-sonnet-4-6', tool: 'Read' })).toMatchObject({
      encoding: {
        reading: USUAL_READING,
        maxInlineNested: Number.POSITIVE_INFINITY,
        recursionDepth: 16,
      },
      dedup: { exact: true, near: true, lines: true, lruSize: 16, minBodyChars: 200 },
    })
    expect(resolve({}).preferred).toBeUndefined()
    expect(enabled({})).toEqual(USUAL_FAMILIES)
  })

  it('is the same for the same request, and changes nothing', () => {
    const config = pipelineSchema.parse({ profiles: { agent: { active: 'marathon_refactor' } } })
    const before = structuredClone(config)
    const query = { model: 'gpt-5', tool: 'Read' }
    expect(resolveProfile(config, query)).toEqual(resolveProfile(config, query))
    expect(config).toEqual(before)
  })

  it('refuses an unknown tokenizer', () => {
    expect(() => resolve({}, { tokenizer: 'nope' })).toThrow(/invalid_request/)
  })
})

describe('the language model', () => {
  const config = {
    profiles: {
      llm: {
        variants: {
          default: { max_inline_nested: 512 },
          'claude-*': { max_inline_nested: 64 },
          'claude-haiku-5': { prefer_explicit_keys: true },
        },
      },
    },
  }
  const inlineOf = (model?: string, more: object = {}) => {
    const { llm } = config.profiles
    const profile = resolve({ profiles: { llm: { ...llm, ...more } } }, { model })
    return profile.encoding.maxInlineNested
  }

  it('has the variant that names it best, and else the default', () => {
    expect([inlineOf('claude-opus-5'), inlineOf('gpt-5'), inlineOf()]).toEqual([64, 512, 512])
    // A variant is taken as it is; nothing of another is laid under it.
    expect(inlineOf('claude-haiku-5')).toBe(Number.POSITIVE_INFINITY)
    expect(inlineOf('default')).toBe(512)
  })

  it('can be set for all', () => {
    expect(inlineOf('gpt-5', { active: 'claude-*' })).toBe(64)
  })
})

describe('the agent', () => {
  const near = (profiles: object, dedup: object = {}) => resolve({ profiles, dedup }).dedup.near

  it('is one of the built-in ones, or of the file', () => {
    expect(near({ agent: { active: 'marathon_refactor' } })).toBe(true)
    expect(near({ agent: { active: 'file_search_heavy' } }, { near_ref_enabled: true })).toBe(false)
    expect(near({}, { near_ref_enabled: true })).toBe(true)
    const variants = { quiet: { near_ref_enabled: false } }
    expect(near({ agent: { active: 'quiet', variants } })).toBe(false)
  })

  it('that is built in can be changed key by key', () => {
    const variants = { marathon_refactor: { recursion_depth: 7 } }
    const { dedup, encoding } = resolve({
      profiles: { agent: { active: 'marathon_refactor', variants } },
    })
    expect([dedup.near, encoding.recursionDepth]).toEqual([true, 7])
  })
})

describe('the data', () => {
  const variants = {
    b_all: { endpoint_pattern: 'mcp__', preferred_format: 'md' },
    c_same: { endpoint_pattern: 'mcp__git', preferred_format: 'csv' },
    a_git: { endpoint_pattern: 'mcp__git', preferred_format: 'tree', hint_set: ['lines'] },
  }
  const preferred = (tool?: string, active = 'auto') =>
    resolve({ profiles: { data: { active, variants } } }, { tool }).preferred

  it('is found by the longest beginning of the tool, of equal ones by name', () => {
    expect(preferred('mcp__gitlab__get')).toBe('tree')
    expect(preferred('mcp__jira')).toBe('md')
    expect([preferred('Read'), preferred(), preferred('')]).toEqual(Array(3).fill(undefined))
    expect(preferred('Read', 'c_same')).toBe('csv')
  })

  it('allows notes on search chains only if they are asked for, seven results apart', () => {
    const types = { search_chain: {} }
    expect(enabled({ hints: { types } })).toEqual(HINT_FAMILIES)
    expect(enabled({ hints: { types: { search_chain: { enabled: false } } } })).toEqual(
      USUAL_FAMILIES,
    )
    const { search_chain, lines } = resolve({ hints: { types } }).hints.types
    expect([search_chain.interval_results, lines.interval_results]).toEqual([7, undefined])
  })

  it('allows no hints but its own', () => {
    const config = { profiles: { data: { variants } } }
    expect(enabled(config, { tool: 'mcp__git' })).toEqual(['lines'])
    expect(enabled(config, { tool: 'mcp__jira' })).toEqual(USUAL_FAMILIES)
  })
})

describe('deduplication', () => {
  const dedup = {
    lru_size: 7,
    min_body_chars: 300,
    near_ref_enabled: true,
    enabled_per_endpoint: { Bash: false, 'Ed*': false, Edit: true },
  }

  it('is set for all, and for an endpoint', () => {
    const endpoint_overrides = {
      Read: { lru_size: 9, min_body_chars: 100 },
    }
    const of = (tool?: string) => resolve({ dedup, endpoint_overrides }, { tool }).dedup
    expect(of('Bash')).toMatchObject({ exact: false, near: false, lines: false, lruSize: 7 })
    expect(of('Edit')).toMatchObject({ exact: true, near: true, lines: true, minBodyChars: 300 })
    expect(of('Read')).toMatchObject({ exact: true, lruSize: 9, minBodyChars: 100 })
    for (const tool of [undefined, 'constructor', '__proto__', 'toString']) {
      expect(of(tool)).toMatchObject({ exact: true, lruSize: 7 })
      expect(resolve({}, { tool }).preferred).toBeUndefined()
    }
  })

  it('has no reference that its hints may not say', () => {
    const off = { types: { reference: { enabled: false }, lines: { enabled: false } } }
    expect(resolve({ dedup, hints: off }).dedup).toMatchObject({
      exact: false,
      near: true,
      lines: false,
    })
  })

  it('has the verbosity of all hints, or of the tool', () => {
    const dedup = { hint_verbosity: 'terse' }
    const { hints, dedup: own } = resolve({ dedup })
    expect([hints.default_verbosity, own.verbosity]).toEqual(['terse', 'terse'])
    const endpoint_overrides = { Read: { hint_verbosity: 'verbose' } }
    const ofTool = resolve({ dedup, endpoint_overrides }, { tool: 'Read' })
    expect(ofTool.dedup.verbosity).toBe('verbose')
  })
})

describe('hints', () => {
  it('are for the models that the policy names, in any spelling', () => {
    const hints = {
      types: { format: { applies_to_models: ['gpt-oss:20b', 'claude-sonnet-4.6'] } },
    }
    const says = (model?: string) => enabled({ hints }, { model }).includes('format')
    expect([says('gpt-oss:20b'), says('claude-sonnet-4-6-20260101')]).toEqual([true, true])
    expect([says('gpt-5'), says()]).toEqual([false, false])
  })

  it('are as often as the policy says', () => {
    const { hints } = resolve({ hints: { types: { overflow: { max_per_session: 3 } } } })
    expect(hints.types.overflow.max_per_session).toBe(3)
    expect(hints.types.lines.max_per_session).toBeUndefined()
  })
})
