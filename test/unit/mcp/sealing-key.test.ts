import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { folderKey } from '../../../src/mcp/auth/vault-key.ts'
import { loadSealingKey } from '../../../src/service/sealing-key.ts'

it('is the same for all on one folder, and never the key of the folder', () => {
  const folders = [0, 1].map(() => mkdtempSync(join(tmpdir(), 'haversack-sealing-')))
  onTestFinished(() => {
    for (const folder of folders) rmSync(folder, { recursive: true })
  })
  const [one, other] = folders.map(loadSealingKey)
  expect(one).toHaveLength(32)
  expect(loadSealingKey(folders[0]!)).toEqual(one)
  expect(other).not.toEqual(one)
  expect(Buffer.from(one!)).not.toEqual(folderKey(folders[0]!).key)
  expect(statSync(join(folders[0]!, 'mcp-credentials.key')).mode & 0o77).toBe(0)
})
