import { chmodSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { storeCommand } from '../../../src/cli/store/command.ts'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-store-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('the store command looks at a store that is there, and makes none', async () => {
  const data = join(tempFolder(), 'none')
  for (const action of ['stats', 'prune', 'verify']) {
    await expect(storeCommand.run({ data }, [action])).rejects.toThrow(`no store in ${data}`)
  }
  expect(existsSync(data)).toBe(false)
})

test('it changes nothing about the folder, and says nothing but the figures', async () => {
  const data = tempFolder()
  const store = await openSqliteStore({ folder: data, onEvent: () => {} })
  await store.put([{ tenant: 'a', body: Buffer.from('x'), mediaType: 'text/plain' }])
  chmodSync(data, 0o755)
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  const errors = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  try {
    expect(await storeCommand.run({ data, json: true }, ['verify'])).toBe(0)
    expect(output.mock.calls).toEqual([['{"checked":1,"damaged":0}\n']])
    expect(errors).not.toHaveBeenCalled()
  } finally {
    output.mockRestore()
    errors.mockRestore()
  }
  expect(statSync(data).mode & 0o777).toBe(0o755)
  await store.close()
})

test('verify goes on after its first step, until it has read every body', async () => {
  const data = tempFolder()
  const store = await openSqliteStore({ folder: data, onEvent: () => {} })
  const bodies = Array.from({ length: 450 }, (_, number) => Buffer.from(`body ${number}`))
  await store.put(bodies.map(body => ({ tenant: 'a', body, mediaType: 'text/plain' })))
  const output = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  try {
    expect(await storeCommand.run({ data, json: true }, ['verify'])).toBe(0)
    expect(output.mock.calls).toEqual([['{"checked":450,"damaged":0}\n']])
  } finally {
    output.mockRestore()
  }
  await store.close()
})
