import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  keepLog,
  markSalvaged,
  moveAside,
  removeOldDamaged,
  unsalvaged,
} from '../../../../src/store/sqlite/damaged-files.ts'
import { START, tempFolder } from '../inline-store.ts'

const DAY = 24 * 60 * 60_000
const STAMP = '2030-01-01T00-00-00-000Z'

/** A folder with files of these names after `store.sqlite`, each with its name as content. */
function folderWith(...suffixes: string[]) {
  const folder = tempFolder()
  const path = join(folder, 'store.sqlite')
  for (const suffix of suffixes) writeFileSync(path + suffix, suffix)
  const left = () =>
    readdirSync(folder)
      .map(name => name.slice('store.sqlite'.length))
      .sort()
  return { path, left }
}

describe('a damaged file', () => {
  test('is moved with what lies beside it, and is noted as not carried over', () => {
    const { path, left } = folderWith('', '-wal', '-shm', '.other')
    const target = moveAside(path, START)
    expect(target).toBe(`${path}.damaged-${STAMP}`)
    const moved = ['', '-shm', '-unsalvaged', '-wal'].map(suffix => `.damaged-${STAMP}${suffix}`)
    expect(left()).toEqual([...moved, '.other'])
    for (const suffix of ['', '-wal', '-shm']) {
      expect(readFileSync(target + suffix, 'utf8')).toBe(suffix)
    }
    expect(statSync(`${target}-unsalvaged`).mode & 0o777).toBe(0o600)
    expect(unsalvaged(path)).toBe(target)
    markSalvaged(target)
    expect(unsalvaged(path)).toBeUndefined()
    markSalvaged(target)
  })

  test('may have nothing beside it', () => {
    const { path, left } = folderWith('')
    moveAside(path, START)
    expect(left()).toEqual([`.damaged-${STAMP}`, `.damaged-${STAMP}-unsalvaged`])
  })

  test.each(['', '-wal', '-shm', '-unsalvaged'])(
    'never takes the name of an earlier one of which "%s" is left',
    suffix => {
      const taken = [`.damaged-${STAMP}${suffix}`, `.damaged-${STAMP}-1${suffix}`]
      const { path, left } = folderWith('', ...taken)
      expect(moveAside(path, START)).toBe(`${path}.damaged-${STAMP}-2`)
      expect(left()).toEqual(expect.arrayContaining(taken))
      expect(readFileSync(path + taken[0]!, 'utf8')).toBe(taken[0])
    },
  )

  test('is carried over from the newest on, those of one moment by their number', () => {
    const older = '.damaged-2029-12-31T23-59-59-999Z'
    const names = [older, `.damaged-${STAMP}`, `.damaged-${STAMP}-2`, `.damaged-${STAMP}-10`]
    const { path } = folderWith(...names.map(name => `${name}-unsalvaged`))
    for (const name of names.toReversed()) {
      expect(unsalvaged(path)).toBe(path + name)
      markSalvaged(path + name)
    }
    expect(unsalvaged(path)).toBeUndefined()
  })

  test('of another store, or without a time in its name, is none', () => {
    const { path } = folderWith('.damaged-by-hand-unsalvaged', `2.damaged-${STAMP}-unsalvaged`)
    expect(unsalvaged(path)).toBeUndefined()
    writeFileSync(join(path, '..', `x${STAMP}-unsalvaged`), '')
    expect(unsalvaged(path)).toBeUndefined()
  })
})

describe('a log that ends early', () => {
  test('is copied, and stays', () => {
    const { path, left } = folderWith('', '-wal')
    keepLog(path, START)
    expect(left()).toEqual(['', '-wal', `.damaged-${STAMP}-wal`].sort())
    expect(readFileSync(`${path}.damaged-${STAMP}-wal`, 'utf8')).toBe('-wal')
    keepLog(path, START)
    expect(existsSync(`${path}.damaged-${STAMP}-1-wal`)).toBe(true)
  })

  test('that is not there leaves no copy', () => {
    const { path, left } = folderWith('')
    keepLog(path, START)
    expect(left()).toEqual([''])
  })
})

describe('old damaged files', () => {
  const at = (ms: number) =>
    `.damaged-${new Date(START + ms).toISOString().replaceAll(/[:.]/g, '-')}`

  test('go, but for the newest and those that are not carried over', () => {
    const [first, second, third] = [at(0), at(1), at(2)]
    const kept = [second, `${second}-unsalvaged`, `${second}-wal`, third, `${third}-wal`]
    const { path, left } = folderWith(first, `${first}-wal`, `${first}-shm`, ...kept)
    removeOldDamaged(path, START + 3)
    expect(left()).toEqual(kept.sort())
  })

  test('all go once they are a week old, whatever is left of them', () => {
    const { path, left } = folderWith('', at(0), `${at(0)}-unsalvaged`, at(1), '.damaged-by-hand')
    removeOldDamaged(path, START + 7 * DAY - 1)
    expect(left()).toHaveLength(5)
    removeOldDamaged(path, START + 7 * DAY)
    expect(left()).toEqual(['', '.damaged-by-hand', at(1)].sort())
    removeOldDamaged(path, START + 7 * DAY + 1)
    expect(left()).toEqual(['', '.damaged-by-hand'].sort())
  })
})
