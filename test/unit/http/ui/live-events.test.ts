import { expect, it } from 'vitest'
import { createLiveEvents } from '../../../../src/http/ui/live-events.ts'

function start() {
  const listeners = new Map<() => void, string>()
  const live = createLiveEvents(
    {
      onWritten(tenant, listener) {
        const own = () => listener()
        listeners.set(own, tenant)
        return () => listeners.delete(own)
      },
    },
    () => false,
  )
  const open = (reader: string, ...others: string[]) =>
    live.open(reader, [reader, ...others], () => false)
  return { listeners, open }
}

it('follows each tenant that the page shows until the reader leaves', async () => {
  const { listeners, open } = start()
  const stream = open('a', 'b')
  expect([...listeners.values()]).toEqual(['a', 'b'])
  const reader = stream.getReader()
  await reader.read()
  for (const [written, tenant] of listeners) if (tenant === 'b') written()
  expect(Buffer.from((await reader.read()).value!).toString()).toContain('event: written')
  await reader.cancel()
  expect(listeners.size).toBe(0)
})

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
