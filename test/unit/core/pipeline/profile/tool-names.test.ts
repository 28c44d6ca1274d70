import { describe, expect, it } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { resolveProfile } from '../../../../../src/core/pipeline/profile/resolve.ts'
import { ToolSettings } from '../../../../../src/core/pipeline/profile/tool-settings.ts'
import { anonymousName } from '../../../../../src/core/telemetry/anonymous-name.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { counters } from '../../../../support/vocabularies.ts'

const LOG = { tool: 'Bash', args: { command: 'cd repo && git log --oneline | head -20' } }
const MCP = { tool: 'mcp__github__list_issues' }

/** The name of the entry that a call gets. */
function entryOf(names: readonly string[], call: { tool?: string; args?: unknown }) {
  const entries = names.map((name, at) => [name, { lru_size: at + 1 }])
  const config = pipelineSchema.parse({ endpoint_overrides: Object.fromEntries(entries) })
  const [first] = new ToolSettings(config, { ...call, agent: 'default', data: undefined }).entries
  return first?.of === 'name' ? first.name : undefined
}

describe('settings by tool', () => {
  it.each([
    ['the exact name', LOG, 'Bash'],
    ['the endpoint class', LOG, 'git_log'],
    ['the longest pattern', LOG, 'git_*'],
    ['a shorter one', LOG, 'g*'],
    ['the pattern of all', LOG, '*'],
  ])('%s comes before those that follow', (_, call, expected) => {
    const order = ['Bash', 'git_log', 'git_*', 'g*', '*']
    const left = order.slice(order.indexOf(expected))
    expect(entryOf(left.toReversed(), call)).toBe(expected)
  })

  it.each([
    ['mcp__github__list_issues'],
    ['github__list_issues'],
    ['list_issues'],
    ['mcp__github__*'],
    ['github__*'],
    ['list_*'],
    [anonymousName(MCP.tool)],
    [`${anonymousName(MCP.tool).slice(0, 'mcp__p123456'.length)}__*`],
  ])('%s is a name of a tool of an MCP server', name => {
    expect(entryOf([name], MCP)).toBe(name)
  })

  it('is for no other tool', () => {
    const others = ['list', 'issues', 'mcp__gitlab__*', 'mcp__p000000__*', 'constructor', 'git_log']
    expect(entryOf(others, MCP)).toBeUndefined()
    expect(entryOf(['toString*', 'Bash'], { tool: 'toString' })).toBe('toString*')
    expect(entryOf(['Bash'], { tool: '__proto__' })).toBeUndefined()
    expect(entryOf(['Bash', 'x*'], {})).toBeUndefined()
    expect(entryOf([], LOG)).toBeUndefined()
  })

  it('takes a tool that is called like a class for itself', () => {
    expect(entryOf(['git_log'], { tool: 'git_log' })).toBe('git_log')
  })

  it('is taken key by key from the most particular entry that has the key', () => {
    const config = pipelineSchema.parse({
      profiles: {
        agent: { active: 'mine', variants: { mine: { recursion_depth: 3 } } },
      },
      endpoint_overrides: {
        Bash: { lru_size: 1 },
        git_log: { lru_size: 2, min_body_chars: 20, max_ratio: 0.5 },
        'git_*': { min_body_chars: 30, hint_verbosity: 'terse' },
        '*': { elision_enabled: false, formats: ['tree'] },
      },
    })
    const { dedup, elision, encoding } = resolveProfile(config, LOG)
    expect(dedup).toMatchObject({
      lruSize: 1,
      minBodyChars: 20,
      verbosity: 'terse',
    })
    expect(elision).toMatchObject({ maxRatio: 0.5, enabled: false })
    expect(encoding.formats).toEqual(['tree'])
  })

  it.each(['**', 'a*b', '*a', ''])('%j is no name', name => {
    expect(pipelineSchema.safeParse({ endpoint_overrides: { [name]: {} } }).success).toBe(false)
    expect(pipelineSchema.safeParse({ views: { levels: { [name]: 'full' } } }).success).toBe(false)
  })

  it('acts on results of a class: elision is off for one of two commands of a shell', () => {
    const lines = Array.from(
      { length: 400 },
      (_, at) => `12:00:0${at % 10} INFO step ${at} is done`,
    )
    const content = [...lines, 'ERROR it failed', ...lines].join('\n')
    const pipeline = anySaving({
      endpoint_overrides: { npm_test: { elision_enabled: false } },
    })
    const elided = (command: string) =>
      encodeOperation.run(
        { content, tool: 'Bash', args: { command }, mode: 'elide' },
        { counters, maxDepth: 100, maxDecodedChars: 1e7, keepsOriginals: true, pipeline },
      ).answer.elided.length > 0
    expect([elided('npm test'), elided('make all')]).toEqual([false, true])
  })
})
