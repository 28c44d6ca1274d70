import { describe, expect, it } from 'vitest'
import {
  matchesEndpoint,
  serverPattern,
} from '../../../../src/core/fingerprints/endpoint-pattern.ts'
import { endpointClass } from '../../../../src/core/telemetry/endpoint-class.ts'

describe('patterns of endpoints', () => {
  it.each([
    ['git_log', ['git_log'], true],
    ['git_log', ['git'], false],
    ['git_log', ['git_*'], true],
    ['git_log', ['*_log'], true],
    ['git_log', ['*g*_*g'], true],
    ['git_log', ['git_log*g'], false],
    ['git_log', ['*'], true],
    ['git_log', [], false],
    ['git_log', ['curl', 'git_*'], true],
  ])('%s and %j: %s', (name, patterns, expected) => {
    expect(matchesEndpoint(name, patterns)).toBe(expected)
  })

  it('names an MCP server as its clients do', () => {
    const name = endpointClass('mcp__gitlab__get_frobnications', {})
    expect(name).not.toContain('gitlab')
    expect(matchesEndpoint(name, ['mcp__gitlab__*'])).toBe(true)
    expect(matchesEndpoint(name, ['mcp__gitlab__get_frobnications'])).toBe(true)
    expect(matchesEndpoint(name, ['mcp__jira__*'])).toBe(false)
    expect(matchesEndpoint(name, [serverPattern('gitlab')])).toBe(true)
    expect(matchesEndpoint(name, [`${name.slice(0, 13)}*`])).toBe(true)
  })
})
