import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { providerFile, readPulled, TEAM_FILE } from '../../../src/fingerprints/pulled.ts'
import { DAY, NOW, row } from './rows.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-pulled-'))
afterAll(() => rmSync(folder, { recursive: true }))

const head = { version: 1, generated_at: NOW, window_days: 30, k: 5 }

describe('what was fetched', () => {
  it('is nothing where nothing was', async () => {
    expect(await readPulled(folder, ['gitlab'], NOW)).toEqual({
      team: new Map(),
      providers: new Map(),
    })
  })

  it('is stale when a team’s last upload is two weeks old by now', async () => {
    const fingerprints = [
      { ...row(), stale: false },
      { ...row({ endpoint_class: 'curl' }), stale: true },
    ]
    const document = { ...head, team: 'backend', fingerprints, left_out: 0 }
    writeFileSync(join(folder, TEAM_FILE), JSON.stringify(document))
    const staleAfter = async (days: number) => {
      const { team } = await readPulled(folder, [], NOW + days * DAY)
      return [...team].map(([name, { stale }]) => [name, stale])
    }
    const fresh = [
      ['git_log', false],
      ['curl', true],
    ]
    expect(await staleAfter(13)).toEqual(fresh)
    expect(await staleAfter(14)).toEqual(fresh.map(([name]) => [name, true]))
  })

  it('says which file holds something else', async () => {
    const file = join(folder, providerFile('gitlab'))
    for (const text of ['{"torn', JSON.stringify({ ...head, fingerprints: [{}] })]) {
      writeFileSync(file, text)
      await expect(readPulled(folder, ['gitlab'], NOW)).rejects.toMatchObject({
        code: 'invalid_request',
        detail: `${file} holds something else; pull again`,
      })
    }
  })
})
