import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { createServiceEnrichment, planningTerms } from '../../../src/service/ahead.ts'
import { temporaryFolder } from '../book/events/writer.ts'

// Contract, section 7: providers ← mined ← user, hot-reloaded.
describe('mined models in the service', () => {
  it('are in force in the gateway and for plans, also after a reload', () => {
    const folder = temporaryFolder()
    const load = (text: string) => {
      writeFileSync(join(folder, 'mined.toml'), text)
      return loadConfig({ env: { HAVERSACK_DATA_DIR: folder } })
    }
    const live = { config: load('[tools.get]\nspeculate = false') }
    // Neither the store nor reports are used to find a model.
    const [store, reports] = [{}, { metrics: { enrichment: {} }, logger: {} }]
    const enrichment = createServiceEnrichment(
      ...([live, store, null, reports] as unknown as Parameters<typeof createServiceEnrichment>),
    )
    expect(enrichment.models.find('get').forbiddenBy).toBe('mined')
    expect(planningTerms(live.config).layers.mined).toEqual({ get: { speculate: false } })
    live.config = load('[tools.other]\nspeculate = false')
    expect(enrichment.models.find('get').forbiddenBy).toBeUndefined()
    expect(enrichment.models.find('other').forbiddenBy).toBe('mined')
  })
})
