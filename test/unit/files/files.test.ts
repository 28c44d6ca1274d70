import { execFileSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { faultOfFile } from '../../../src/config/read-toml.ts'
import { readConfigFile, replaceWithBackup, restore } from '../../../src/console/replace-file.ts'
import { makeFolder } from '../../../src/files/make-folder.ts'
import { readPlainText } from '../../../src/files/read-plain-file.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-files-'))
afterAll(() => rmSync(folder, { recursive: true }))
const at = (name: string) => join(folder, name)

function codeOf(what: () => unknown): unknown {
  try {
    return what()
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

writeFileSync(at('file'), 'text')
symlinkSync(at('two'), at('one'))
symlinkSync(at('one'), at('two'))

describe('a folder', () => {
  it('is made with those above it, for its owner only, and may be there', () => {
    for (let times = 0; times < 2; times++) makeFolder(at('a/b/c'))
    expect(['a', 'a/b', 'a/b/c'].map(each => statSync(at(each)).mode & 0o777)).toEqual([
      0o700, 0o700, 0o700,
    ])
    symlinkSync(at('a'), at('link'))
    makeFolder(at('link/d'))
    expect(readdirSync(at('a')).sort()).toEqual(['b', 'd'])
  })

  it.each([
    ['file', 'EEXIST'],
    ['file/below', 'ENOTDIR'],
    ['one', 'ELOOP'],
    ['one/below', 'ELOOP'],
  ])('cannot be at %s: %s', (name, code) => {
    expect(codeOf(() => makeFolder(at(name)))).toBe(code)
  })

  it.runIf(existsSync('/proc/self'))('cannot be where nothing can be made, and that ends', () => {
    expect(codeOf(() => makeFolder('/proc/x/y'))).toBe('ENOENT')
  })

  it('is made by nothing else: what Node has may not end', () => {
    const sources = ['src', 'workers'].flatMap(each =>
      readdirSync(new URL(`../../../${each}/`, import.meta.url), {
        recursive: true,
        encoding: 'utf8',
      })
        .filter(name => name.endsWith('.ts'))
        .map(name => `${each}/${name}`),
    )
    const made = sources.filter(name => {
      const text = readPlainText(fileURLToPath(new URL(`../../../${name}`, import.meta.url)))
      return /\bmkdir(?:Sync)?\([^)]*recursive/.test(text)
    })
    expect(sources.length).toBeGreaterThan(500)
    expect(made).toEqual([])
  })
})

describe('a file that a person names', () => {
  it('is read, also by a link, and never a pipe that nobody writes', () => {
    symlinkSync(at('file'), at('to-file'))
    expect(readPlainText(at('to-file'))).toBe('text')
    execFileSync('sh', ['-c', 'mkfifo "$0"', at('pipe')])
    for (const [name, fault] of [
      ['pipe', 'is no plain file'],
      ['one', 'leads in a circle of links'],
      ['none', 'cannot be read'],
    ] as const) {
      let found: string | undefined
      try {
        readPlainText(at(name))
      } catch (error) {
        found = faultOfFile(error)
      }
      expect(found).toBe(fault)
    }
  })

  it('keeps its byte order mark when it is changed, and gets its bytes back', () => {
    const file = at('settings.json')
    writeFileSync(file, '\u{feff}{"a":1}')
    expect(readConfigFile(file)).toBe('{"a":1}')
    replaceWithBackup(file, '{"a":1}', '{"a":2}')
    expect(readPlainText(file)).toBe('\u{feff}{"a":2}')
    restore(file, (text, before) => text === '{"a":2}' && before === '{"a":1}')
    expect(readPlainText(file)).toBe('\u{feff}{"a":1}')
  })
})
