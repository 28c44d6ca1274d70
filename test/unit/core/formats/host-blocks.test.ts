import { expect, it } from 'vitest'
import { hostBlocks } from '../../../../src/core/formats/host-blocks.ts'

const BLOCK = '<system-reminder>\nLook twice.\n</system-reminder>'

it('finds blocks on lines of their own', () => {
  const text = `one\n${BLOCK}\ntwo\n\n<system-reminder>Short.</system-reminder>\r\n`
  expect(hostBlocks(text)).toEqual([
    { name: 'system-reminder', from: 1, end: 4, text: BLOCK },
    { name: 'system-reminder', from: 6, end: 7, text: '<system-reminder>Short.</system-reminder>' },
  ])
})

it.each([
  ['no closing tag', 'a\n<system-reminder>\nb'],
  ['an opening tag within a line', `a ${BLOCK}`],
  ['text after the closing tag', `${BLOCK} and more`],
  ['another name', BLOCK.replaceAll('system', 'user')],
])('takes %s for content', (_, text) => {
  expect(hostBlocks(text)).toEqual([])
})

it('finds at most 100, in time that grows with the text', () => {
  expect(hostBlocks(`${BLOCK}\n`.repeat(20_000))).toHaveLength(100)
  expect(hostBlocks('<system-reminder>\n'.repeat(200_000))).toEqual([])
  expect(hostBlocks(`x${BLOCK}`.repeat(100_000))).toEqual([])
})
