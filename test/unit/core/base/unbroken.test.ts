import { expect, it } from 'vitest'
import {
  endThread,
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

it('unbroken work is the last of a thread whose end was decided in it', () => {
  const cells = new Int32Array(new SharedArrayBuffer(4))
  protectThread(cells, 0)
  unbroken(() => expect([endThread(cells, 0), mayTerminate(cells, 0)]).toEqual([false, false]))
  // Another piece of such work would wait for the end.
  const before = Int32Array.from(cells)
  expect([endThread(cells, 0), mayTerminate(cells, 0)]).toEqual([true, true])
  expect(cells).toEqual(before)
  resetProtection(cells, 0)
  expect(unbroken(() => 'again')).toBe('again')
})
