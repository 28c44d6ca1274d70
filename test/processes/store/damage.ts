import {
  closeSync,
  copyFileSync,
  existsSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { createRandom } from '../../../src/lab/bill/statistics.ts'

const PAGE_BYTES = 4096

type Random = ReturnType<typeof createRandom>
type Damage = (path: string, random: Random) => void

/** Where a damage may be done: the main file, its log, or both. */
const PLACES = [[''], ['-wal'], ['', '-wal']] as const

function each(places: readonly string[], damage: Damage): Damage {
  return (path, random) => {
    for (const place of places) {
      if ((statSync(path + place, { throwIfNoEntry: false })?.size ?? 0) > 0) {
        damage(path + place, random)
      }
    }
  }
}

function change(path: string, at: number, bytes: Uint8Array): void {
  const file = openSync(path, 'r+')
  writeSync(file, bytes, 0, bytes.length, at)
  closeSync(file)
}

function noise(random: Random, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, () => random(256))
}

/** Single bytes, anywhere. */
const bytes: Damage = (path, random) => {
  const { size } = statSync(path)
  for (let i = 1 + random(20); i > 0; i--) {
    change(path, random(size), noise(random, 1))
  }
}

/** Whole pages of noise, zeros, or another page. */
const pages: Damage = (path, random) => {
  const content = readFileSync(path)
  const count = Math.max(1, Math.floor(content.length / PAGE_BYTES))
  const pageAt = (page: number) => content.subarray(page * PAGE_BYTES, (page + 1) * PAGE_BYTES)
  for (let i = 1 + random(4); i > 0; i--) {
    const kinds = [noise(random, PAGE_BYTES), new Uint8Array(PAGE_BYTES), pageAt(random(count))]
    change(path, random(count) * PAGE_BYTES, kinds[random(kinds.length)]!)
  }
}

const cut: Damage = (path, random) => {
  const file = openSync(path, 'r+')
  ftruncateSync(file, random(statSync(path).size))
  closeSync(file)
}

/** Another content altogether. */
const replaced: Damage = (path, random) => {
  writeFileSync(path, noise(random, 1 + random(200_000)))
}

const head: Damage = (path, random) => change(path, random(100), noise(random, 1))

const removed: Damage = path => rmSync(path)

const swapped: Damage = path => {
  if (!existsSync(`${path}-wal`)) return
  renameSync(path, `${path}.x`)
  renameSync(`${path}-wal`, path)
  renameSync(`${path}.x`, `${path}-wal`)
}

/** An earlier state of either file, kept by `before`. */
const older =
  (place: string): Damage =>
  path => {
    if (existsSync(`${path}${place}.old`)) copyFileSync(`${path}${place}.old`, path + place)
  }

const KINDS: readonly (readonly [name: string, damage: Damage])[] = [
  ...(
    [
      ['bytes', bytes],
      ['pages', pages],
      ['cut', cut],
      ['replaced', replaced],
    ] as const
  ).flatMap(([name, damage]) =>
    PLACES.map(places => [`${name} of ${places.join(' and ')}`, each(places, damage)] as const),
  ),
  ['a byte of the head', head],
  ['the log’s index', each(['-shm'], bytes)],
  ['the log is gone', each(['-wal'], removed)],
  ['main file and log swapped', swapped],
  ['an older main file', older('')],
  ['an older log', older('-wal')],
]

/** Damages the files at `path` in one of many ways; says which. */
export function spoil(path: string, seed: number): string {
  const [name, damage] = KINDS[seed % KINDS.length]!
  damage(path, createRandom(seed))
  return name
}

/** Copies for `older`. */
export function rememberOlder(path: string): void {
  for (const place of ['', '-wal']) {
    if (existsSync(path + place)) copyFileSync(path + place, `${path}${place}.old`)
  }
}

export const DAMAGES = KINDS.length
