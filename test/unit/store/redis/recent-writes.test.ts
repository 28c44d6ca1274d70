import { expect, test } from 'vitest'
import { type RecentWrite, RecentWrites } from '../../../../src/store/redis/recent-writes.ts'
import { generationOf, Replication } from '../../../../src/store/redis/repair.ts'

const write = (args: readonly (string | Uint8Array)[] = ['x']): RecentWrite => ({
  name: 'put',
  root: 'r',
  session: '',
  guard: '0',
  args,
})

test('writes of other servers are found until they are forgotten', () => {
  const writes = new RecentWrites(1_000_000)
  for (let i = 0; i < 100; i++) writes.add(write([`${i}`]), i < 50 ? 'one' : 'two', i)
  expect(writes.notOn('two')).toHaveLength(50)
  writes.forget(30)
  expect(writes.notOn('two')).toHaveLength(20)
  expect(writes.notOn('two')[0]!.write.args).toEqual(['30'])
  writes.forget(1_000)
  expect([writes.bytes, writes.dropped, writes.notOn('three').length]).toEqual([0, 0, 0])
})

test('the oldest writes are dropped if all of them are too large', () => {
  const writes = new RecentWrites(10_000)
  for (let i = 0; i < 8; i++) writes.add(write([new Uint8Array(2_000)]), 'one', i)
  expect(writes.bytes).toBeLessThanOrEqual(10_000)
  expect(writes.dropped).toBe(4)
  writes.add({ ...write(), staged: [['key', new Uint8Array(20_000)]] }, 'one', 9)
  expect([writes.bytes, writes.dropped]).toEqual([0, 9])
})

const info = (run: string, history: string) => `run_id:${run}\r\nmaster_replid:${history}\r\n`

test('another run, another history and another fence are another generation', () => {
  const names = [
    generationOf([info('a', 'b')], 'f'),
    generationOf([info('c', 'b')], 'f'),
    generationOf([info('a', 'c')], 'f'),
    generationOf([info('a', 'b')], 'g'),
    generationOf([info('a', 'b'), info('d', 'e')], 'f'),
  ]
  expect(new Set(names).size).toBe(names.length)
  // The nodes of a cluster come in any order.
  expect(generationOf([info('d', 'e'), info('a', 'b')], 'f')).toBe(names[4])
})

test('writes are safe once a replica has what the primary had after them', () => {
  const replication = new Replication()
  const heard = (askedMs: number, offset: number, ...replicas: number[]) => {
    const lines = replicas.map((at, i) => `slave${i}:ip=h,port=1,state=online,offset=${at},lag=0`)
    replication.heard(`master_repl_offset:${offset}\r\n${lines.join('\r\n')}\r\n`, askedMs)
    return replication.safeMs
  }
  // Without a replica there is nothing to wait for.
  expect(heard(1, 0)).toBe(1)
  expect(heard(2, 100, 0)).toBe(1)
  expect(heard(3, 200, 50)).toBe(1)
  expect(heard(4, 300, 20, 100)).toBe(2)
  // The replica is away: what was written since is on the primary only.
  for (let at = 5; at < 20_000; at++) expect(heard(at, 300 + at)).toBe(2)
  expect(heard(20_000, 30_000, 20_300)).toBeGreaterThan(19_000)
  expect(heard(700_000, 30_000)).toBe(700_000)
})
