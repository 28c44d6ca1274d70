import { expect, it } from 'vitest'
import { MOST_WAITING, SendQueue } from '../../../../src/mcp/upstream/send-queue.ts'

it('sends a few messages at a time, in their order, and takes so many', async () => {
  const ends: (() => void)[] = []
  const sent: string[] = []
  let most = 0
  const queue = new SendQueue(message => {
    sent.push(message.toString())
    most = Math.max(most, ends.length + 1)
    return new Promise(resolve => ends.push(resolve))
  })
  const taken = Array.from({ length: MOST_WAITING + 10 }, (_, n) => queue.add(Buffer.from(`${n}`)))
  expect(sent).toEqual(['0', '1', '2', '3'])
  expect(taken.filter(each => each === null)).toHaveLength(6)
  while (ends.length > 0) {
    ends.shift()!()
    await Promise.resolve().then(() => {})
    await new Promise(setImmediate)
  }
  await Promise.all(taken)
  expect(sent).toEqual(Array.from({ length: MOST_WAITING + 4 }, (_, n) => `${n}`))
  expect(most).toBeLessThanOrEqual(4)
})
