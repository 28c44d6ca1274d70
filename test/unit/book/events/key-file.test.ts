import { mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  loadTelemetryKey,
  readTelemetryKeys,
  replaceTelemetryKey,
} from '../../../../src/book/events/key-file.ts'
import { SecretFileError } from '../../../../src/runtime/secret-file.ts'
import { filesIn, temporaryFolder } from './writer.ts'

describe('the key of telemetry', () => {
  it('is made once, for its owner alone', () => {
    const folder = `${temporaryFolder()}/data`
    const key = loadTelemetryKey(folder)
    expect(key).toHaveLength(32)
    expect(loadTelemetryKey(folder)).toEqual(key)
    const [file, ...others] = filesIn(folder)
    expect(others).toEqual([])
    expect(statSync(file!.path).mode & 0o777).toBe(0o600)
    expect(readTelemetryKeys(folder)).toEqual([key])
    const other = new Uint8Array(32).fill(7)
    replaceTelemetryKey(folder, other)
    expect(readTelemetryKeys(folder).map(each => Buffer.from(each))).toEqual(
      [other, key].map(each => Buffer.from(each)),
    )
    writeFileSync(file!.path, 'short')
    expect(() => loadTelemetryKey(folder)).toThrow(SecretFileError)
    rmSync(file!.path)
    mkdirSync(file!.path)
    expect(() => loadTelemetryKey(folder)).toThrow('cannot be read')
  })
})
