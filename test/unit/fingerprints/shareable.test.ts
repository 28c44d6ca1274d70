import { describe, expect, it } from 'vitest'
import { anonymousName } from '../../../src/core/telemetry/anonymous-name.ts'
import { ofServers, shareable } from '../../../src/fingerprints/shareable.ts'
import { DAY, NOW, row } from './rows.ts'

describe('what may leave', () => {
  it('has five sessions, whatever a file says, and lies in the window', () => {
    const good = row({ source_sessions: 5, first_seen_ms: NOW - 30 * DAY })
    const few = row({ source_sessions: 4 })
    const old = row({ first_seen_ms: NOW - 30 * DAY - 1 })
    expect(shareable([few, good, old], NOW)).toEqual([good])
  })

  it('is for a provider only what is of its own servers', () => {
    const rows = ['mcp__gitlab__get_issue', 'mcp__jira__get_issue', 'Read', 'git_log'].map(name =>
      row({ endpoint_class: anonymousName(name) }),
    )
    expect(ofServers(rows, ['gitlab'])).toEqual([rows[0]])
    expect(ofServers(rows, ['gitlab', 'jira'])).toEqual(rows.slice(0, 2))
    expect(ofServers(rows, [])).toEqual([])
  })
})
