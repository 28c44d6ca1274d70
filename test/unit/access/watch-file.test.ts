import {
  chmodSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type FileWatch, watchFile } from '../../../src/access/watch-file.ts'
import { eventually } from '../../support/eventually.ts'

const root = mkdtempSync(join(tmpdir(), 'haversack-watch-'))
afterAll(() => rmSync(root, { recursive: true }))

let path: string
let watch: FileWatch | undefined
const changed = vi.fn()

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  path = join(mkdtempSync(join(root, 'test-')), 'keys.json')
  writeFileSync(path, 'first')
  changed.mockReset()
})
afterEach(() => {
  watch?.close()
  vi.useRealTimers()
})

async function begin(): Promise<void> {
  watch = await watchFile(path)
  watch.begin(changed)
}

/**
 * Turns the clock on until `mock` was called `count` times; the looks themselves take real time.
 * No look is under way then, so that none sees the next change half made.
 */
function calls(count: number, mock = changed): Promise<void> {
  const look = () => {
    if (mock.mock.calls.length < count) vi.advanceTimersByTime(2_000)
    expect(mock).toHaveBeenCalledTimes(count)
  }
  return eventually(look)
}

describe('a watched file', () => {
  it('is told of once for each change, of whatever kind', async () => {
    await begin()
    writeFileSync(path, 'second, in place')
    await calls(1)
    writeFileSync(`${path}.next`, 'second, in place')
    renameSync(`${path}.next`, path)
    await calls(2)
    rmSync(path)
    await calls(3)
    writeFileSync(path, 'back')
    await calls(4)
    const now = new Date()
    writeFileSync(path, 'kcab')
    utimesSync(path, now, now)
    await calls(5)
  })

  it('is told of where it becomes readable, with the same content and time', async () => {
    chmodSync(path, 0)
    await begin()
    chmodSync(path, 0o600)
    await calls(1)
  })

  it('is told of where the link to it leads elsewhere, as Kubernetes does it', async () => {
    const link = `${path}.link`
    symlinkSync(path, link)
    writeFileSync(`${path}.other`, 'first')
    watch = await watchFile(link)
    watch.begin(changed)
    symlinkSync(`${path}.other`, `${link}.next`)
    renameSync(`${link}.next`, link)
    await calls(1)
  })

  it('is told of where it changed between the first look and the beginning', async () => {
    watch = await watchFile(path)
    writeFileSync(path, 'read too early')
    watch.begin(changed)
    await calls(1)
  })

  it('is not told of after the end', async () => {
    await begin()
    watch?.close()
    writeFileSync(path, 'unseen')
    const other = await watchFile(path)
    const seen = vi.fn()
    other.begin(seen)
    writeFileSync(path, 'seen')
    await calls(1, seen)
    other.close()
    expect(changed).not.toHaveBeenCalled()
  })
})
