/**
 * Loads the packed vocabularies: from the cache folder if they are there and whole, else from
 * tiktoken's data.
 */
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { packVocabulary } from '../core/tokens/pack-vocabulary.ts'
import type { Encoding } from '../core/tokens/profiles.ts'
import { isSealedVocabulary, type Vocabularies } from '../core/tokens/vocabulary.ts'
import { makeFolder } from '../files/make-folder.ts'
import { encodingData } from './tiktoken.ts'

export interface LoadVocabulariesOptions {
  /** Folder that keeps the packed form between starts; without one, each start packs again. */
  readonly cacheDir?: string
}

/**
 * Packed vocabularies of both encodings. Each is loaded when it is first read, which blocks: some
 * 15 ms with a warm cache, a few hundred without. A damaged, outdated or missing cache file is
 * packed again and replaced; a cache that cannot be written is no error.
 */
export function loadVocabularies({ cacheDir }: LoadVocabulariesOptions = {}): Vocabularies {
  const loaded: Partial<Record<Encoding, SharedArrayBuffer>> = {}
  const load = (encoding: Encoding) => {
    loaded[encoding] ??= loadOne(encoding, cacheDir)
    return loaded[encoding]
  }
  return {
    get o200k_base() {
      return load('o200k_base')
    },
    get cl100k_base() {
      return load('cl100k_base')
    },
  }
}

function loadOne(encoding: Encoding, cacheDir: string | undefined): SharedArrayBuffer {
  if (cacheDir === undefined) return packFromTiktoken(encoding)
  const path = join(cacheDir, `${encoding}.vocabulary`)
  const cached = readPacked(path)
  if (cached !== undefined && isSealedVocabulary(cached, encoding)) return cached
  const packed = packFromTiktoken(encoding)
  writePacked(cacheDir, path, packed)
  return packed
}

function packFromTiktoken(encoding: Encoding): SharedArrayBuffer {
  return packVocabulary(encoding, encodingData(encoding).bpe_ranks)
}

/** The file's bytes, or undefined if there is no such file or it cannot be read. */
function readPacked(path: string): SharedArrayBuffer | undefined {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch {
    return undefined // not cached yet
  }
  try {
    const { size } = fstatSync(file)
    const buffer = new SharedArrayBuffer(size)
    const bytes = new Uint8Array(buffer)
    for (let at = 0; at < size; ) {
      const read = readSync(file, bytes, at, size - at, at)
      if (read === 0) return undefined
      at += read
    }
    return buffer
  } catch {
    return undefined // unreadable is as good as absent: it is packed again
  } finally {
    closeSync(file)
  }
}

/** Writes beside the target and renames, so that no other process sees a part of the file. */
function writePacked(cacheDir: string, path: string, packed: SharedArrayBuffer): void {
  const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`
  try {
    makeFolder(cacheDir)
    writeFileSync(temporary, new Uint8Array(packed), { mode: 0o600, flag: 'wx' })
    renameSync(temporary, path)
  } catch {
    // If the disk is read-only or full, only the next start takes longer.
    removeIfPossible(temporary)
  }
}

function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {
    // It was never written.
  }
}
