import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ownEndedPasses } from '../../support/ended-passes.ts'

function ownFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-passes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ui.ended')
}

describe('passes that were given back', () => {
  it('are known after a restart and to other processes, and no other pass is', () => {
    const file = ownFile()
    const [one, other] = [ownEndedPasses({ file }), ownEndedPasses({ file })]
    expect(other.has('a')).toBe(false)
    one.add('a', 10)
    expect([one.has('a'), other.has('a'), other.has('b')]).toEqual([true, true, false])
    other.add('b', 10)
    expect(one.has('b')).toBe(true)
    const later = ownEndedPasses({ file })
    expect([later.has('a'), later.has('b'), later.has('c')]).toEqual([true, true, false])
  })

  it('are in a file that gives away none and that only its owner reads', () => {
    const file = ownFile()
    ownEndedPasses({ file }).add('123.key.mac', 123)
    expect(readFileSync(file, 'utf8')).toMatch(/^\n123 [0-9a-f]{64}$/)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('are bounded: those whose time is over go first, and then the oldest', () => {
    const file = ownFile()
    const passes = ownEndedPasses({ file, now: () => 5, most: 100 })
    const lines = () => readFileSync(file, 'utf8').split('\n').length - 1
    for (let at = 0; at < 90; at++) passes.add(`over ${at}`, 5)
    for (let at = 0; at < 11; at++) passes.add(`valid ${at}`, 6)
    expect(lines()).toBe(11)
    const known = ['over 1', 'valid 0', 'valid 10'].map(pass => passes.has(pass))
    expect(known).toEqual([false, true, true])
    for (let at = 0; at < 90; at++) passes.add(`late ${at}`, 6)
    expect(lines()).toBe(50)
    expect([passes.has('valid 0'), passes.has('late 89')]).toEqual([false, true])
  })

  it('survive a torn line', () => {
    const file = ownFile()
    ownEndedPasses({ file }).add('a', 10)
    appendFileSync(file, '\n12 abc')
    const later = ownEndedPasses({ file })
    expect(later.has('a')).toBe(true)
    later.add('b', 10)
    expect(ownEndedPasses({ file }).has('b')).toBe(true)
  })

  it('are known to the process without a file, and if it cannot be written', () => {
    const own = ownEndedPasses()
    own.add('a', 10)
    expect(own.has('a')).toBe(true)
    const failures: unknown[] = []
    const away = ownEndedPasses({ file: '/nowhere/ui.ended', onUnwritten: e => failures.push(e) })
    away.add('a', 10)
    expect(away.has('a')).toBe(true)
    expect(failures).toMatchObject([{ code: 'ENOENT' }])
  })
})
