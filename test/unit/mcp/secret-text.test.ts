import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { secretReader } from '../../../src/mcp/auth/secret-text.ts'

it('gives a text, or a variable', () => {
  expect(secretReader('plain', {})()).toBe('plain')
  expect(secretReader('env:A', { A: 'b' })()).toBe('b')
  expect(() => secretReader('env:B', { A: 'b' })).toThrow('env:B')
})

it('reads a file again when it has changed, and keeps the last text while it has not', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-secret-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'token')
  expect(() => secretReader(`file:${file}`, {})).toThrow('ENOENT')
  writeFileSync(file, 'first\n')
  const read = secretReader(`file:${file}`, {})
  expect(read()).toBe('first')
  writeFileSync(`${file}.new`, 'other')
  renameSync(`${file}.new`, file)
  expect(read()).toBe('other')
  writeFileSync(file, '')
  expect(read()).toBe('other')
  rmSync(file)
  expect(read()).toBe('other')
})
