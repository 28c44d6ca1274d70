import { createServer, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { redisConnector } from '../../../src/store/redis/connection.ts'
import { someOf } from '../../support/short-runs.ts'

const closers: (() => void)[] = []

afterEach(() => {
  for (const close of closers.splice(0)) close()
})

/** A server that logs in whoever comes, and answers each `GET` without an end. */
async function hostile(opening: string, more: Buffer): Promise<number> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.on('data', data => {
      if (!data.includes('GET')) return socket.write('+OK\r\n')
      socket.write(opening)
      return pour(socket, more)
    })
  })
  closers.push(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { readonly port: number }).port
}

function pour(socket: Socket, more: Buffer): void {
  while (!socket.destroyed && socket.write(more));
  if (!socket.destroyed) socket.once('drain', () => pour(socket, more))
}

const BYTES = Buffer.alloc(256 * 1024, 0x61)
const ENDLESS: Readonly<Record<string, readonly [string, Buffer]>> = {
  'a string without an end': ['+', BYTES],
  'an announced string of 100 GB': ['$99999999999\r\n', BYTES],
  'a list of large strings': [
    '*1000000\r\n',
    Buffer.concat([Buffer.from(`$${BYTES.length}\r\n`), BYTES, Buffer.from('\r\n')]),
  ],
  'room for 30 million values, often': [
    '*30000000\r\n'.repeat(50),
    Buffer.from('*30000000\r\n'.repeat(50)),
  ],
  'lists in lists': ['', Buffer.from('*2\r\n:1\r\n'.repeat(4096))],
}

describe('a server in the place of Redis', () => {
  it.each(someOf(Object.entries(ENDLESS), 1))(
    'is left that sends %s',
    async (_, [opening, more]) => {
      const port = await hostile(opening, more)
      const { promise: ended, resolve } = Promise.withResolvers<Error>()
      const connect = redisConnector({
        address: {
          kind: 'standalone',
          nodes: [{ host: '127.0.0.1', port }],
          isTls: false,
          database: 0,
        },
        timeoutMs: 2_000,
      })
      const before = process.memoryUsage.rss()
      const connection = await connect(resolve)
      closers.push(() => connection.close())
      await expect(connection.send('', ['GET', 'key'])).rejects.toThrow()
      expect((await ended).message).toMatch(/too large|stack/)
      expect(process.memoryUsage.rss() - before).toBeLessThan(400 * 1024 * 1024)
    },
  )
})
