import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { changeKeysFile, KeysFileError, readKeysFile } from '../../../src/access/keys-file.ts'
import { keyFor, keysFileText, writeKeysFile } from '../../support/keys.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-keys-'))
afterAll(() => rmSync(root, { recursive: true }))

let folder: string
let path: string
beforeEach(() => {
  folder = mkdtempSync(join(root, 'test-'))
  path = join(folder, 'keys.json')
})

/** The message of the error that `run` throws, which must be one about a keys file. */
function fault(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    expect(error).toBeInstanceOf(KeysFileError)
    return (error as KeysFileError).message
  }
  return 'no fault'
}

const SECRET = 'hvs_Zm9vYmFyYmF6cXV4MDEyMzQ1Njc4OTAxMjM0NTY3ODk'
const good = keyFor('acme').record
const { id: _, ...withoutId } = good
const file = (...keys: unknown[]) => JSON.stringify({ version: 1, keys })

describe('a keys file', () => {
  it('is read with its defaults', () => {
    const { redeems: __, ...bare } = good
    writeFileSync(path, file(bare))
    expect(readKeysFile(path)).toEqual([good])
    writeFileSync(path, file())
    expect(readKeysFile(path)).toEqual([])
  })

  it.each([
    ['nothing', '', 'is not JSON'],
    ['half of one', keysFileText(keyFor('a')).slice(0, -9), 'is not JSON'],
    ['a key alone', SECRET, 'is not JSON'],
    ['a string', `"${SECRET}"`, 'expected object'],
    ['null', 'null', 'expected object'],
    ['a list', `["${SECRET}"]`, 'expected object'],
    ['another version', `{"version":2,"keys":[]}`, 'version: '],
    ['a version that is a key', `{"version":"${SECRET}","keys":[]}`, 'version: '],
    ['no keys', '{"version":1}', 'keys: '],
    ['keys by name', `{"version":1,"keys":{"${SECRET}":{}}}`, 'keys: '],
    ['a key as a string', file(SECRET), 'keys.0: '],
    ['an unknown field', file({ ...good, key: SECRET }), '"key"'],
    ['a field that is a key', file({ ...good, [SECRET]: true }), 'keys.0: unknown field'],
    ['a top field that is a key', `{"version":1,"keys":[],"${SECRET}":1}`, '(top level): unknown'],
    ['no id', file(withoutId), 'keys.0.id'],
    ['an id that is a key', file({ ...good, id: SECRET }), 'keys.0.id'],
    ['a tenant that is a path', file({ ...good, tenant: '../x' }), 'keys.0.tenant'],
    ['a tenant that is a key', file({ ...good, tenant: `${SECRET}\n` }), 'keys.0.tenant'],
    ['the key for its hash', file({ ...good, sha256: SECRET }), 'keys.0.sha256'],
    ['a hash in capitals', file({ ...good, sha256: 'A'.repeat(64) }), 'keys.0.sha256'],
    ['no scopes', file({ ...good, scopes: [] }), 'keys.0.scopes'],
    ['a scope that is none', file({ ...good, scopes: [SECRET] }), 'keys.0.scopes.0'],
    ['a rate of 0', file({ ...good, rate_per_s: 0 }), 'keys.0.rate_per_s'],
    ['a rate that no header can tell', file({ ...good, rate_per_s: 1e-300 }), 'keys.0.rate_per_s'],
    ['a rate that is text', file({ ...good, rate_per_s: SECRET }), 'keys.0.rate_per_s'],
    ['half a burst', file({ ...good, burst: 1.5 }), 'keys.0.burst'],
    ['no place at once', file({ ...good, max_concurrent: 0 }), 'keys.0.max_concurrent'],
    ['no team', file({ ...good, teams: [] }), 'keys.0.teams'],
    ['a team that is a path', file({ ...good, teams: ['a', '../b'] }), 'keys.0.teams.1'],
    ['a team that is text', file({ ...good, teams: SECRET }), 'keys.0.teams'],
    ['a member that is a path', file({ ...good, member: 'a/b' }), 'keys.0.member'],
    ['a note without end', file({ ...good, note: SECRET.repeat(5) }), 'keys.0.note'],
    ['an id twice', file(good, { ...keyFor('b').record, id: good.id }), 'the same id'],
    ['a key twice', file(good, { ...keyFor('b').record, sha256: good.sha256 }), 'the same sha256'],
  ])('is refused with %s, and not quoted', (_name, text, expected) => {
    writeFileSync(path, text)
    const message = fault(() => readKeysFile(path))
    expect(message).toContain(`${path}: `)
    expect(message).toContain(expected)
    expect(message).not.toContain(SECRET.slice(0, 8))
    // What cannot be read must not be lost by writing either.
    expect(fault(() => changeKeysFile(path, () => [good]))).toBe(message)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })

  it('names every fault at once', () => {
    writeFileSync(path, file({ ...good, id: '', sha256: '' }, { ...good, scopes: ['x'] }))
    const message = fault(() => readKeysFile(path))
    for (const part of ['keys.0.id', 'keys.0.sha256', 'keys.1.scopes']) {
      expect(message).toContain(part)
    }
  })

  it('is refused where it cannot be read', () => {
    expect(fault(() => readKeysFile(path))).toContain('ENOENT')
    mkdirSync(join(folder, 'folder'))
    expect(fault(() => readKeysFile(join(folder, 'folder')))).toContain('EISDIR')
    symlinkSync(path, path)
    expect(fault(() => readKeysFile(path))).toContain('ELOOP')
    writeFileSync(join(folder, 'plain'), '')
    expect(fault(() => readKeysFile(join(folder, 'plain', 'keys.json')))).toContain('ENOTDIR')
  })
})

describe('a change of the keys file', () => {
  it('makes it where there is none, for its owner alone', () => {
    changeKeysFile(path, keys => {
      expect(keys).toEqual([])
      return [good]
    })
    expect(readKeysFile(path)).toEqual([good])
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })

  it('puts another file in its place, which a reader sees whole or not at all', () => {
    writeKeysFile(path, keyFor('a'))
    const before = statSync(path).ino
    changeKeysFile(path, keys => {
      expect(readKeysFile(path)).toEqual(keys)
      return [...keys, good]
    })
    expect(readKeysFile(path)).toHaveLength(2)
    expect(statSync(path).ino).not.toBe(before)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('that fails leaves the file and nothing else', () => {
    writeKeysFile(path, keyFor('a'))
    const before = readFileSync(path, 'utf8')
    const boom = () => {
      throw new Error('boom')
    }
    expect(() => changeKeysFile(path, boom)).toThrow('boom')
    expect(fault(() => changeKeysFile(path, () => [{ ...good, id: 'x' }]))).toContain('keys.0.id')
    expect(fault(() => changeKeysFile(path, keys => [...keys, ...keys]))).toContain('the same id')
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })

  it('is refused while another one is under way, or was broken off', () => {
    writeKeysFile(path, keyFor('a'))
    const before = readFileSync(path, 'utf8')
    writeFileSync(`${path}.next`, '{"version":')
    expect(fault(() => changeKeysFile(path, () => []))).toContain(`remove ${path}.next if none is`)
    expect(readFileSync(path, 'utf8')).toBe(before)
    expect(readFileSync(`${path}.next`, 'utf8')).toBe('{"version":')
    changeKeysFile(`${path}.other`, keys => {
      expect(fault(() => changeKeysFile(`${path}.other`, () => [good]))).toContain(
        'another process',
      )
      return keys
    })
  })

  it('is refused where the folder is none', () => {
    expect(fault(() => changeKeysFile(join(folder, 'no', 'keys.json'), () => []))).toContain(
      'cannot be written (ENOENT)',
    )
    mkdirSync(path)
    expect(fault(() => changeKeysFile(path, () => []))).toContain('EISDIR')
    expect(readdirSync(folder)).toEqual(['keys.json'])
  })
})
