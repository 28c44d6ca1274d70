import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished } from 'vitest'
import { Vault, type VaultOptions } from '../../../../src/mcp/auth/vault.ts'

const SECRET = 'planted-secret-in-the-vault'
const PLACE = ['grant', 'local', 'https://issuer.example', 'https://mcp.example/mcp'] as const

function folderOf(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-vault-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

function open(folder: string, options: Partial<VaultOptions> = {}): Vault {
  const vault = new Vault({ folder, keys: [], ...options })
  onTestFinished(() => vault.close())
  return vault
}

it('keeps entries for other processes, sealed, in files of their owner', () => {
  const folder = folderOf()
  open(folder).write(PLACE, { token: SECRET })
  expect(open(folder).read(PLACE)).toEqual({ token: SECRET })
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    expect(readFileSync(file).includes(SECRET), name).toBe(false)
    expect(statSync(file).mode & 0o077, name).toBe(0)
  }
})

it('tightens the mode of its key', () => {
  const folder = folderOf()
  open(folder)
  chmodSync(join(folder, 'mcp-credentials.key'), 0o644)
  open(folder)
  expect(statSync(join(folder, 'mcp-credentials.key')).mode & 0o077).toBe(0)
})

it('uses the keys of the store if there are any, and reads with all of them', () => {
  const folder = folderOf()
  const [old, next] = ['old', 'new'].map(id => ({ id, key: Buffer.alloc(32, id) }))
  open(folder, { keys: [old!] }).write(PLACE, { token: SECRET })
  expect(readdirSync(folder)).not.toContain('mcp-credentials.key')
  expect(open(folder, { keys: [next!, old!] }).read(PLACE)).toEqual({ token: SECRET })
  expect(open(folder, { keys: [next!] }).read(PLACE)).toBeNull()
})

it('reads nothing that was moved to another place, or changed', () => {
  const folder = folderOf()
  const vault = open(folder)
  vault.write(PLACE, { token: SECRET })
  vault.write(['grant', 'other'], { token: 'x' })
  const database = new DatabaseSync(join(folder, 'mcp-credentials.sqlite'))
  const rows = database.prepare('SELECT place, sealed, bytes FROM entries').all()
  const [one, two] = rows as [Record<string, Uint8Array>, Record<string, Uint8Array>]
  const swap = database.prepare('UPDATE entries SET sealed = ?, bytes = ? WHERE place = ?')
  swap.run(one['sealed']!, one['bytes']!, two['place']!)
  swap.run(two['sealed']!, two['bytes']!, one['place']!)
  database.close()
  expect(vault.read(PLACE)).toBeNull()
  expect(vault.read(['grant', 'other'])).toBeNull()
})

it('refuses a key file without a key', () => {
  const folder = folderOf()
  writeFileSync(join(folder, 'mcp-credentials.key'), 'short')
  expect(() => open(folder)).toThrow('holds no key')
})

it('has one holder of a lease, until it is released or over', () => {
  const folder = folderOf()
  let now = 1000
  const [one, two] = [open(folder, { now: () => now }), open(folder, { now: () => now })]
  const release = one.lease(PLACE, 100)
  expect(release).not.toBeNull()
  expect(two.lease(PLACE, 100)).toBeNull()
  expect(two.lease(['grant', 'other'], 100)).not.toBeNull()
  release?.()
  const second = two.lease(PLACE, 100)
  expect(second).not.toBeNull()
  now += 100
  const third = one.lease(PLACE, 100)
  expect(third).not.toBeNull()
  // A holder whose time is over does not end the lease of the next one.
  second?.()
  expect(two.lease(PLACE, 100)).toBeNull()
})

it('shows by its version that something changed, here or in another process', () => {
  const folder = folderOf()
  const [one, two] = [open(folder), open(folder)]
  const before = [one.version(), two.version()]
  expect([one.version(), two.version()]).toEqual(before)
  one.write(PLACE, {})
  expect(one.version()).not.toBe(before[0])
  expect(two.version()).not.toBe(before[1])
  const written = two.version()
  one.remove(PLACE)
  expect(two.version()).not.toBe(written)
})
