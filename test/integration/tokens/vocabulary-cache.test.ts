import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { loadVocabularies } from '../../../src/runtime/vocabulary.ts'
import { FULL_RUNS, SEED } from '../../support/runs.ts'
import { someOf } from '../../support/short-runs.ts'
import { vocabularies } from '../../support/vocabularies.ts'

let folder: string
let cacheDir: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'haversack-vocabulary-'))
  cacheDir = join(folder, 'deep', 'cache')
})

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
})

function expectWhole(loaded: ReturnType<typeof loadVocabularies>): void {
  for (const id of ['o200k_base', 'cl100k_base'] as const) {
    expect(Buffer.from(loaded[id]).equals(Buffer.from(vocabularies[id]))).toBe(true)
  }
}

it('writes the packed form once, readable by its owner only', () => {
  expectWhole(loadVocabularies({ cacheDir }))
  const files = readdirSync(cacheDir).sort()
  expect(files).toEqual(['cl100k_base.vocabulary', 'o200k_base.vocabulary'])
  for (const file of files) expect(statSync(join(cacheDir, file)).mode & 0o777).toBe(0o600)
  const written = statSync(join(cacheDir, files[0]!)).mtimeMs
  expectWhole(loadVocabularies({ cacheDir }))
  expect(statSync(join(cacheDir, files[0]!)).mtimeMs).toBe(written)
})

it('packs anew where the file is damaged, cut short, empty or of another encoding', () => {
  loadVocabularies({ cacheDir })
  const path = join(cacheDir, 'cl100k_base.vocabulary')
  const whole = readFileSync(path)
  const damages: (() => void)[] = [
    () => {
      const bytes = Buffer.from(whole)
      bytes[bytes.length >> 1]! ^= 1
      writeFileSync(path, bytes)
    },
    () => truncateSync(path, whole.length - 8),
    () => truncateSync(path, 3),
    () => writeFileSync(path, ''),
    () => writeFileSync(path, readFileSync(join(cacheDir, 'o200k_base.vocabulary'))),
  ]
  // A short run does every third, other ones each time.
  for (const damage of damages.filter((_, n) => FULL_RUNS || n % 3 === SEED % 3)) {
    damage()
    expectWhole(loadVocabularies({ cacheDir }))
    expect(readFileSync(path).equals(whole)).toBe(true)
  }
})

it('does without a folder it can write to, and without any', () => {
  const file = join(folder, 'file')
  writeFileSync(file, 'not a folder')
  chmodSync(file, 0o400)
  for (const options of someOf([{}, { cacheDir: file }], 1)) expectWhole(loadVocabularies(options))
  expect(readFileSync(file, 'utf8')).toBe('not a folder')
})
