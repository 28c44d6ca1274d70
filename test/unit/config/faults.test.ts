import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { didYouMean } from '../../../src/config/nearest-name.ts'
import { urlFault } from '../../../src/config/url-fault.ts'

/** What is said of a configuration, by its overrides and variables. */
function faultsOf(overrides: Record<string, unknown>, env: Record<string, string> = {}): string {
  try {
    loadConfig({ env, overrides })
  } catch (error) {
    return (error as Error).message
  }
  return ''
}

describe('a wrong setting', () => {
  it.each([
    [{ prot: 1 }, '(top level): prot is no setting; did you mean port?'],
    [{ proxy: { anthropic_ulr: 'x' } }, 'anthropic_ulr is no setting; did you mean anthropic_url?'],
    [{ zzz: 1 }, '(top level): zzz is no setting'],
    [{ port: 'x' }, 'port (HAVERSACK_PORT): must be a number'],
    [{ port: 70_000 }, 'must be at most 65535'],
    [{ port: -1 }, 'must be at least 0'],
    [{ port: 1.5 }, 'must be a whole number'],
    [{ host: '' }, 'host (HAVERSACK_HOST): must have at least 1 characters'],
    [{ log: { level: 'loud' } }, 'must be "'],
    [{ log: [] }, 'log: must be a table'],
    [{ compression: { enabled: 'yes' } }, 'must be true, false or "hold"'],
    [{ watch: 'yes' }, 'must be true or false'],
    [{ allowed_hosts: 'x' }, 'must be a list'],
    [{ proxy: { anthropic_url: 'api.anthropic.com' } }, 'has no scheme: add https:// (or http://)'],
    [{ proxy: { anthropic_url: 'ftp://x' } }, 'is no http or https URL'],
    [{ proxy: { anthropic_url: 'https://a:b@x' } }, 'must have no credentials'],
    [{ fingerprints: { publish: ['team:*'] } }, 'publish.0: must be a pattern such as'],
    [{ proxy: { upstreams: [{ name: 'A', url: 'https://x', dialect: 'openai' }] } }, 'must be a-z'],
    [
      {
        proxy: {
          upstreams: [
            { name: 'a', url: 'https://x', dialect: 'openai' },
            { name: 'a', url: 'https://y', dialect: 'gemini' },
          ],
        },
      },
      'names a name twice',
    ],
    [
      { proxy: { upstreams: [{ name: 'a', url: 'https://x', dialekt: 'openai' }] } },
      'dialekt is no setting; did you mean dialect?',
    ],
  ])('%j is reported: %s', (overrides, message) => {
    expect(faultsOf(overrides)).toContain(message)
  })

  it('is reported as a variable, with the one that is near', () => {
    expect(faultsOf({}, { HAVERSACK_PROT: '1' })).toContain('did you mean HAVERSACK_PORT?')
  })

  it('has no sentence of the validator', () => {
    const all = faultsOf({
      ...{ port: 'x', host: 1, workers: 3, limits: { drain_grace_ms: null } },
      budgets: [{ tenant: 'a b', period: 'week', amount: 0, webhook: 'x' }],
      mcp: {
        servers: {
          a__b: { url: 'http://x' },
          a: { url: 'http://x', auth: { kind: 'oaut' } },
          b: { url: 'http://x', auth: { kind: 'oauth', scopes: ['a b'] } },
        },
      },
    })
    expect(all).toContain('no __')
    expect(all).toContain('must be "none" or "headers" or "forward" or "oauth"')
    expect(all).toContain('scopes.0: must match /')
    expect(all).not.toMatch(/Invalid|expected|received|Unrecognized/)
  })
})

describe('didYouMean', () => {
  it('gives the nearest name, if one is near', () => {
    expect(didYouMean('encod', ['decode', 'encode'])).toBe('; did you mean encode?')
    expect(didYouMean('x', ['encode'])).toBe('')
    expect(didYouMean('', ['encode', 'a'])).toBe('; did you mean a?')
    expect(didYouMean('e'.repeat(1_000_000), ['encode'])).toBe('')
  })
})

describe('urlFault', () => {
  it.each([
    ['https://x', null],
    ['http://127.0.0.1:1', null],
    ['localhost:8787', 'has no scheme: add https:// (or http://)'],
    ['x', 'has no scheme: add https:// (or http://)'],
    ['', 'is no http or https URL'],
    ['ftp://x', 'is no http or https URL'],
    ['http://', 'is no http or https URL'],
  ])('%s: %s', (text, fault) => {
    expect(urlFault(text)).toBe(fault)
  })
})
