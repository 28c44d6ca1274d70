import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openLearnedTools } from '../../../src/mcp/catalogue/search/learned-tools.ts'
import { purgeTenantFiles } from '../../../src/service/book/purge-tenant-files.ts'

it('deletes which tools the clients of a tenant called', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'haversack-purge-learned-'))
  onTestFinished(() => rmSync(dataDir, { recursive: true }))
  const learnedBy = (tenant: string) =>
    openLearnedTools({
      ...{ dataDir, tenant, credential: 'key', client: 'agent', now: Date.now },
      onFailure: error => {
        throw error
      },
    })
  for (const tenant of ['one', 'other']) learnedBy(tenant).begin()('tool')
  await purgeTenantFiles(dataDir, 'one')
  expect(learnedBy('one').recent()).toEqual([])
  expect(learnedBy('other').recent()).toEqual(['tool'])
})
