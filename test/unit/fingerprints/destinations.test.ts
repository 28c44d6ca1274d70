import { describe, expect, it } from 'vitest'
import { destinationsOf, ofProvider, sharesOf } from '../../../src/cli/fingerprints/destinations.ts'
import { configSchema } from '../../../src/config/config.ts'
import { anonymousName } from '../../../src/core/telemetry/anonymous-name.ts'
import { NOW, row } from './rows.ts'

const url = 'https://example.com/'
const team = { url, team: 'backend' }
const providers = {
  gitlab: { ...team, servers: ['gitlab'] },
  jira: { ...team, servers: ['jira'] },
}

function destinations(settings: object) {
  const { fingerprints } = configSchema.parse({ fingerprints: { team, providers, ...settings } })
  return destinationsOf(fingerprints, name => `m-${name.replace(' ', '-')}`)
}

describe('where fingerprints go', () => {
  it('is nowhere without a word for it', () => {
    const none = { share_endpoints_with_team: false, share_with_provider: { gitlab: false } }
    for (const settings of [{}, none, { share_with_provider: { other: true } }]) {
      expect(destinations(settings)).toEqual([])
    }
  })

  it('is each that was named, as another member', () => {
    const shared = { share_endpoints_with_team: true, share_with_provider: { jira: true } }
    expect(destinations(shared)).toMatchObject([
      { name: 'team backend', member: 'm-team-backend', servers: null },
      {
        name: 'provider jira',
        member: 'm-provider-jira',
        servers: ['jira'],
        to: { url: url.slice(0, -1) },
      },
    ])
    const rows = ['mcp__jira__get_issue', 'mcp__gitlab__get_issue', 'Read'].map(name =>
      row({ endpoint_class: anonymousName(name) }),
    )
    const shares = sharesOf(destinations(shared), rows, NOW)
    expect(shares.map(share => share.rows)).toEqual([rows, [rows[0]]])
  })
})

describe('a provider', () => {
  it('is believed about its own servers only', () => {
    const own = row({ endpoint_class: anonymousName('mcp__jira__get_issue') })
    const head = { version: 1 as const, generated_at: NOW, window_days: 30, k: 5 }
    const document = { ...head, fingerprints: [own, row()] }
    expect(ofProvider(document, ['jira'])).toEqual({ ...head, fingerprints: [own] })
  })
})
