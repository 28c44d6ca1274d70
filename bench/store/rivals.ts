import { spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { open, readFile, rename } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/store/sqlite/client.ts'

/** Something that keeps bodies by their hash, durably once `put` resolves. */
export interface Rival {
  readonly label: string
  put(body: Uint8Array): Promise<string>
  get(ref: string): Promise<Uint8Array>
  close(): Promise<void>
}

export async function haversack(folder: string, compress: boolean): Promise<Rival> {
  const store = await openSqliteStore({
    folder,
    maxBytes: 8 * 2 ** 30,
    ...(compress ? {} : { compressFromBytes: null }),
    onEvent: event => process.stderr.write(`${JSON.stringify(event)}\n`),
  })
  return {
    label: compress ? 'Haversack' : 'Haversack, no compression',
    async put(body) {
      const [result] = await store.put([{ tenant: 't', body, mediaType: 'text/plain' }])
      if (result?.ok !== true) throw new Error(JSON.stringify(result))
      return result.hash
    },
    async get(ref) {
      const result = await store.get({ tenant: 't', ref })
      if (!result.ok) throw new Error(result.detail)
      return result.body
    },
    close: () => store.close(),
  }
}

/**
 * One file a body: written beside, flushed, renamed. The folder is not flushed: kinder than it
 * should be.
 */
export async function files(folder: string): Promise<Rival> {
  mkdirSync(folder, { recursive: true })
  return {
    label: 'a file a body, fsync',
    async put(body) {
      const ref = hash('sha256', body)
      const path = join(folder, ref)
      const file = await open(`${path}.part`, 'w', 0o600)
      await file.writeFile(body)
      await file.sync()
      await file.close()
      await rename(`${path}.part`, path)
      return ref
    },
    get: ref => readFile(join(folder, ref)),
    close: async () => {},
  }
}

/** What we use of lmdb; it is installed for the bench alone. */
interface Lmdb {
  open(options: { path: string; encoding: 'binary' }): {
    put(key: string, value: Uint8Array): Promise<boolean>
    get(key: string): Uint8Array | undefined
    readonly flushed: Promise<unknown>
    close(): Promise<void>
  }
}

/** Installs lmdb beside the bench's files. @throws Error if the registry cannot be reached */
export function installLmdb(folder: string): Lmdb {
  const target = join(folder, 'lmdb')
  mkdirSync(target, { recursive: true })
  const args = ['install', '--prefix', target, '--no-audit', '--no-fund', 'lmdb@3']
  const { status } = spawnSync('npm', args, { stdio: ['ignore', 'ignore', 'inherit'] })
  if (status !== 0) throw new Error('lmdb could not be installed')
  return createRequire(join(target, 'package.json'))('lmdb') as Lmdb
}

export async function lmdb({ open }: Lmdb, folder: string): Promise<Rival> {
  const database = open({ path: folder, encoding: 'binary' })
  return {
    label: 'lmdb',
    async put(body) {
      const ref = hash('sha256', body)
      await database.put(ref, body)
      // `put` resolves before the disk has it.
      await database.flushed
      return ref
    },
    async get(ref) {
      const body = database.get(ref)
      if (body === undefined) throw new Error(`${ref} is missing`)
      return body
    },
    close: () => database.close(),
  }
}
