import { describe, expect, it } from 'vitest'
import { shippedModels } from '../../../src/config/shipped-models.ts'

describe('models.toml', () => {
  it('has the tools of agents, and five providers with one host for all tools of three', () => {
    const named = shippedModels().map(({ servers = [], models }) => {
      const hosts = new Set(Object.values(models).map(({ rate_limit_host }) => rate_limit_host))
      return [servers.join(), ...hosts]
    })
    expect(named).toEqual([
      ['', undefined],
      ['gitlab', undefined],
      ['github', 'api.github.com'],
      ['jira,atlassian', undefined],
      ['clickup', 'api.clickup.com'],
      ['fireflies', 'api.fireflies.ai'],
    ])
  })

  it('has only tools that read as targets of a link by a value of a result', () => {
    for (const { servers, models } of shippedModels()) {
      if (servers === undefined) continue
      for (const { follow_up = [] } of Object.values(models)) {
        for (const { tool } of follow_up) {
          expect(models[tool]?.side_effect_class, tool).toBe('read_only')
        }
      }
    }
  })

  it('says what each writing tool of a provider makes stale, by names that it has', () => {
    const stale = shippedModels().flatMap(({ models }) =>
      Object.entries(models)
        .filter(([, { side_effect_class }]) => side_effect_class === 'mutates_external')
        .map(([, { invalidates = [] }]) => invalidates.filter(tool => !(tool in models))),
    )
    expect(stale.length).toBe(34)
    expect(stale.flat()).toEqual([])
  })
})
