import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'smol-toml'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { KeyPath } from '../../../../src/core/pipeline/profile/key-path.ts'
import type { ConfigValue } from '../../../../src/lab/versions/key-path.ts'
import { KEPT_VERSIONS, Tuned, type TunedChange } from '../../../../src/lab/versions/tuned.ts'
import { lockFolder } from '../../../../src/runtime/folder-lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'haversack-tuned-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const terms = {
  inputs: 'a'.repeat(64),
  generation: '0123456789abcdef',
  now: new Date('2026-03-01T10:00:00Z'),
}

function change(key: KeyPath, to: ConfigValue | null): TunedChange {
  return { key, to, rule: 'R6', evidence: '20 markers, 9 of them needed' }
}

const off = change(['endpoint_overrides', 'git_log', 'elision_enabled'], false)
const lru = change(['dedup', 'lru_size'], 20)

function fileText(tenant = 'ours'): string {
  return readFileSync(join(folder, 'tuned', `${tenant}.toml`), 'utf8')
}

describe('Tuned', () => {
  it('has nothing before the first change', () => {
    const tuned = new Tuned(folder, 'ours')
    expect(tuned.inForce().now).toBeNull()
    expect(tuned.inForce().versions).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes a configuration with the reason of each key', () => {
    const version = new Tuned(folder, 'ours').apply([off, lru], terms)
    expect(parse(fileText())).toEqual({
      schema_version: expect.any(Number),
      endpoint_overrides: { git_log: { elision_enabled: false } },
      dedup: { lru_size: 20 },
      tuned: {
        id: version?.id,
        tenant: 'ours',
        created_at: '2026-03-01T10:00:00.000Z',
        generation: terms.generation,
        changes: [
          {
            ...{ key: 'endpoint_overrides.git_log.elision_enabled', rule: 'R6' },
            ...{ evidence: off.evidence, date: '2026-03-01' },
          },
          { key: 'dedup.lru_size', rule: 'R6', evidence: off.evidence, date: '2026-03-01' },
        ],
      },
    })
  })

  it('keeps each version with its inputs, and its values before and after', () => {
    const tuned = new Tuned(folder, 'ours')
    const first = tuned.apply([lru], { ...terms, effect: { before: 10, after: 8 } })
    const second = tuned.apply([change(lru.key, 30), off], terms)
    const [newest, oldest] = tuned.inForce().versions
    expect(oldest).toEqual(first)
    expect(newest).toEqual(second)
    expect(oldest).toMatchObject({ number: 1, onto: null, effect: { before: 10, after: 8 } })
    expect(newest).toMatchObject({ number: 2, onto: first?.id, inputs: terms.inputs })
    expect(newest?.changes.map(({ from, to }) => [from, to])).toEqual([
      [20, 30],
      [null, false],
    ])
  })

  it('writes no version that changes nothing', () => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    expect(tuned.apply([lru, change(['dedup', 'min_body_chars'], null)], terms)).toBeNull()
    expect(tuned.inForce().versions).toHaveLength(1)
  })

  it('keeps the last versions only', () => {
    const tuned = new Tuned(folder, 'ours')
    for (let size = 1; size <= KEPT_VERSIONS + 5; size++) {
      tuned.apply([change(lru.key, size)], terms)
    }
    expect(tuned.inForce().versions).toHaveLength(KEPT_VERSIONS)
    expect(readdirSync(join(folder, 'tuned', 'versions', 'ours'))).toHaveLength(KEPT_VERSIONS)
  })

  it('reverts a version, except what was changed since', () => {
    const tuned = new Tuned(folder, 'ours')
    const first = tuned.apply([lru, off], terms)
    tuned.apply([change(lru.key, 30)], terms)
    const { version, kept } = tuned.revert(first?.id, terms)
    expect(kept).toEqual([lru.key])
    expect(version).toMatchObject({ action: 'revert', reverts: first?.id })
    expect(tuned.inForce().now?.config).toEqual({ dedup: { lru_size: 30 } })
    expect(tuned.inForce().now?.reasons.map(({ key }) => key)).toEqual([lru.key])
  })

  it('reverts the newest that is not reverted, one after the other', () => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    tuned.apply([off], terms)
    tuned.revert(undefined, terms)
    expect(tuned.inForce().now?.config).toEqual({ dedup: { lru_size: 20 } })
    tuned.revert(undefined, terms)
    expect(tuned.inForce().now?.config).toEqual({})
    expect(() => tuned.revert(undefined, terms)).toThrow('no version to revert')
    expect(() => tuned.revert('000000000000', terms)).toThrow('no version 000000000000')
  })

  it('can revert a revert', () => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    const { version } = tuned.revert(undefined, terms)
    tuned.revert(version?.id, terms)
    expect(tuned.inForce().now?.config).toEqual({ dedup: { lru_size: 20 } })
  })

  it('takes names such as __proto__ and a.b as names', () => {
    const tuned = new Tuned(folder, 'ours')
    const names = ['__proto__', 'constructor', 'a.b "c" \\ é', 'mcp__x__*']
    const changes = names.map(name => change(['endpoint_overrides', name, 'lru_size'], 3))
    tuned.apply(changes, terms)
    expect(tuned.inForce().now?.reasons.map(({ key }) => key[1])).toEqual(names)
    expect(({} as { lru_size?: number }).lru_size).toBeUndefined()
    tuned.revert(undefined, terms)
    expect(tuned.inForce().now?.config).toEqual({})
  })

  it.each([
    ['a value that does not fit', change(['dedup', 'lru_size'], 0), 'dedup.lru_size'],
    ['a key that is none', change(['dedup', 'lru'], 1), 'lru'],
    ['a table for a value', change(['dedup', 'lru_size', 'x'], 1), 'dedup.lru_size'],
  ])('refuses %s, and writes nothing', (_, wrong, named) => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([off], terms)
    const before = fileText()
    expect(() => tuned.apply([lru, wrong], terms)).toThrow(named)
    expect(fileText()).toBe(before)
    expect(tuned.inForce().versions).toHaveLength(1)
  })

  it('refuses changes that were decided on another version', () => {
    const tuned = new Tuned(folder, 'ours')
    const first = tuned.apply([lru], { ...terms, onto: null })
    expect(() => tuned.apply([off], { ...terms, onto: null })).toThrow('changed since')
    expect(tuned.apply([off], { ...terms, onto: first?.id ?? '' })).not.toBeNull()
  })

  it('refuses the name of a tenant that is a path', () => {
    expect(() => new Tuned(folder, '../ours')).toThrow('is no tenant')
  })
})

describe('a damaged tuned file', () => {
  const damages: readonly [string, (text: string) => string, string][] = [
    ['changed by hand', text => text.replace('lru_size = 20', 'lru_size = 21'), 'by hand'],
    ['torn', text => text.slice(0, 40), 'is not as tune writes it'],
    ['no TOML', text => `${text}[`, 'it is no TOML'],
    ['of another tenant', () => fileText('theirs'), 'no version of this tenant'],
    ['without a key', text => text.replace('lru_size = 20', ''), 'no key of the file'],
  ]

  it.each(damages)('is refused if it is %s, and stays', (_, damage, message) => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    new Tuned(folder, 'theirs').apply([lru], terms)
    const damaged = damage(fileText())
    writeFileSync(tuned.file, damaged)
    for (const act of [
      () => tuned.inForce().now,
      () => tuned.apply([off], terms),
      () => tuned.revert(undefined, terms),
    ]) {
      expect(act).toThrow(message)
    }
    expect(fileText()).toBe(damaged)
  })

  it('is replaced once it is deleted', () => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    rmSync(tuned.file)
    expect(tuned.inForce().now).toBeNull()
    tuned.apply([off], terms)
    expect(tuned.inForce().versions).toHaveLength(1)
  })
})

describe('two changes at once', () => {
  it('have no effect of a version whose process ended before the file was written', () => {
    const tuned = new Tuned(folder, 'ours')
    tuned.apply([lru], terms)
    const before = fileText()
    const lost = tuned.apply([off], terms)
    // The record is there, the file is as it was.
    writeFileSync(tuned.file, before)
    expect(tuned.inForce().now?.config).toEqual({ dedup: { lru_size: 20 } })
    const next = tuned.apply([change(lru.key, 7)], terms)
    expect(next?.number).toBe(lost?.number)
    const records = readdirSync(join(folder, 'tuned', 'versions', 'ours'))
    expect(records.some(name => name.includes(lost?.id ?? ''))).toBe(false)
  })

  it('wait for one another', () => {
    mkdirSync(join(folder, 'tuned'))
    const lock = lockFolder(join(folder, 'tuned'), 'tuned.lock')
    expect(() => lockFolder(join(folder, 'tuned'), 'tuned.lock')).toThrow('in use')
    lock.close()
    expect(new Tuned(folder, 'ours').apply([lru], terms)).not.toBeNull()
  })
})
