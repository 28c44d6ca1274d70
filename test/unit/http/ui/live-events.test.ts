import { expect, it } from 'vitest'
import { createLiveEvents } from '../../../../src/http/ui/live-events.ts'

function start() {
  const listeners = new Set<() => void>()
  const live = createLiveEvents(
    {
      onWritten(_tenant, listener) {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    () => false,
  )
  return { listeners, open: (tenant: string) => live.open(tenant, () => false) }
}

it('bounds the open streams of a tenant, and of that tenant alone', async () => {
  const { listeners, open } = start()
  const streams = Array.from({ length: 100 }, () => open('a'))
  expect(() => open('a')).toThrow('too many pages are open')
  const other = open('b')
  await streams[0]!.cancel()
  const next = open('a')
  expect(() => open('a')).toThrow('too many pages are open')
  for (const stream of [...streams.slice(1), other, next]) await stream.cancel()
  expect(listeners.size).toBe(0)
})
