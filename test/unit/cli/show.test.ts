import { expect, it } from 'vitest'
import { paint } from '../../../src/console/paint.ts'
import { captureCli } from '../../support/capture.ts'

it('says what it looks for, if nothing is named so', async () => {
  const unknown = await captureCli('show', 'read\u001bme')
  expect([unknown.code, unknown.stdout]).toEqual([2, ''])
  expect(unknown.stderr).toContain('"read\\u001bme" names no result: give last, the number')
  const away = await captureCli('show', '9f2c41aa0b7d4c11', '--url', 'http://127.0.0.1:9')
  expect([away.code, away.stdout]).toEqual([1, ''])
  expect(away.stderr).toContain('the original 9f2c41aa0b7d4c11 is with a running service, but no')
})

it('keeps the tabs of a text where UTF-8 is not shown', () => {
  const look = { columns: 80, hasColor: false, hasUnicode: false }
  expect(paint(['\tif a → b'], look)).toBe('\tif a > b')
})
