import { expect, it } from 'vitest'
import {
  mayTerminate,
  protectThread,
  resetProtection,
  unbroken,
} from '../../../../src/core/base/unbroken.ts'

it('a thread may be terminated before and after unbroken work, and not in it', () => {
  const cells = new Int32Array(new SharedArrayBuffer(8))
  protectThread(cells, 1)
  const inside = unbroken(() => unbroken(() => 'inner') + mayTerminate(cells, 1))
  expect(inside).toBe('innerfalse')
  expect(() =>
    unbroken(() => {
      throw new Error('broken')
    }),
  ).toThrow('broken')
  expect([mayTerminate(cells, 1), mayTerminate(cells, 1)]).toEqual([true, true])
  resetProtection(cells, 1)
  expect(unbroken(() => 'again')).toBe('again')
})
