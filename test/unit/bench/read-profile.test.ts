import { expect, it } from 'vitest'
import { readTree, sharesOf, totalOf } from '../../../bench/profile/read-profile.ts'

const callFrame = (functionName: string, url: string) => ({
  functionName,
  url,
  scriptId: '1',
  lineNumber: 6,
  columnNumber: 0,
})

const profile = {
  startTime: 0,
  endTime: 100,
  nodes: [
    { id: 1, callFrame: callFrame('(root)', ''), children: [2] },
    { id: 2, callFrame: callFrame('outer', 'file:///x/src/core/a/one.ts'), children: [3, 4] },
    { id: 3, callFrame: callFrame('', 'file:///x/src/core/b/two.ts'), children: [5] },
    { id: 4, callFrame: callFrame('parse', 'file:///x/node_modules/zod/v4/core.js') },
    { id: 5, callFrame: callFrame('outer', 'file:///x/src/core/a/one.ts') },
  ],
  samples: [2, 3, 4, 5, 5],
  timeDeltas: [10, 20, 30, 15, 25],
}

it('gives each folder its own time, and that of what it calls once', () => {
  const root = readTree(profile)
  expect(totalOf(root)).toBe(100)
  expect(sharesOf(root, frame => frame.folder)).toEqual([
    { name: 'src/core/a', own: 50, inclusive: 100 },
    { name: 'src/core/b', own: 20, inclusive: 60 },
    { name: 'zod', own: 30, inclusive: 30 },
  ])
  expect(sharesOf(root, frame => frame.name).map(({ name }) => name)).toEqual([
    'outer src/core/a/one.ts',
    'line 7 src/core/b/two.ts',
    'parse zod',
  ])
})
