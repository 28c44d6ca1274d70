import { expect, test } from 'vitest'
import { CallQueue } from '../../../../src/store/redis/call-queue.ts'
import { Turns } from '../../../../src/store/redis/turns.ts'

/** Work that ends when it is told to. */
function startedWork() {
  const started: string[] = []
  const ends = new Map<string, PromiseWithResolvers<string>>()
  const work = (name: string) => () => {
    started.push(name)
    const end = Promise.withResolvers<string>()
    ends.set(name, end)
    return end.promise
  }
  const settled = () => new Promise(resolve => setImmediate(resolve))
  return { started, ends, work, settled }
}

test('so many pieces of work are under way at a time, the others wait in their order', async () => {
  const { started, ends, work, settled } = startedWork()
  const turns = new Turns(2)
  const all = ['a', 'b', 'c', 'd'].map(name => turns.run(work(name)))
  await settled()
  expect(started).toEqual(['a', 'b'])
  ends.get('b')!.resolve('of b')
  expect(await all[1]).toBe('of b')
  expect(started).toEqual(['a', 'b', 'c'])
  // Work that fails makes room too.
  ends.get('a')!.reject(new Error('of a'))
  await expect(all[0]).rejects.toThrow('of a')
  expect(started).toEqual(['a', 'b', 'c', 'd'])
  for (const name of ['c', 'd']) ends.get(name)!.resolve(name)
  expect(await Promise.all(all.slice(2))).toEqual(['c', 'd'])
  void turns.run(work('e'))
  void turns.run(work('f'))
  void turns.run(work('g'))
  expect(started.slice(4)).toEqual(['e', 'f'])
})

test('a call without room is refused, and counted', async () => {
  const { ends, work, settled } = startedWork()
  const queue = new CallQueue({ maxCalls: 2, maxBytesWaiting: 100 })
  const first = queue.run(90, work('a'))
  expect(await queue.run(11, work('b'))).toBeNull()
  const second = queue.run(10, work('c'))
  expect(await queue.run(0, work('d'))).toBeNull()
  expect(queue).toMatchObject({ pending: 2, pendingBytes: 100, refused: 2 })
  for (const name of ['a', 'c']) ends.get(name)!.resolve(name)
  expect(await Promise.all([first, second])).toEqual(['a', 'c'])
  await settled()
  expect(queue).toMatchObject({ pending: 0, pendingBytes: 0 })
  expect([...ends.keys()]).toEqual(['a', 'c'])
})

test('calls that are not sent yet count as pending', async () => {
  const { started, ends, work, settled } = startedWork()
  const queue = new CallQueue({ maxCalls: 1_000, maxBytesWaiting: 1e6 })
  const all = Array.from({ length: 300 }, (_, i) => queue.run(1, work(`${i}`)))
  await settled()
  expect(queue.pending).toBe(300)
  expect(started).toHaveLength(128)
  for (let i = 0; i < 300; i++) {
    ends.get(`${i}`)!.resolve('')
    await all[i]
  }
  expect(queue).toMatchObject({ pending: 0, pendingBytes: 0 })
})
