import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A link that can be made bad. */
export interface Relay {
  readonly port: number
  /** Passes everything on at once; what was held comes first. */
  pass(): void
  /** Holds everything. Connections stay open, and new ones are accepted. */
  hold(): void
  /** Ends all connections, and accepts none. What was on its way is lost. */
  cut(): void
  /** Passes each piece on so much later. */
  slow(ms: number): void
  close(): Promise<void>
}

/** Listens on a free port, and passes on to another one. */
export async function startRelay(target: number): Promise<Relay> {
  const sockets = new Set<Socket>()
  let state: 'pass' | 'hold' | 'cut' = 'pass'
  let delayMs = 0
  let opened = Promise.withResolvers<void>()
  opened.resolve()

  async function pump(from: Socket, to: Socket): Promise<void> {
    try {
      for await (const piece of from) {
        if (delayMs > 0) await sleep(delayMs)
        await opened.promise
        to.write(piece as Buffer)
      }
    } catch {
      // The link was cut.
    } finally {
      await opened.promise
      to.destroy()
    }
  }

  const server = createServer(client => {
    if (state === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(target, '127.0.0.1')
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    void pump(client, upstream)
    void pump(upstream, client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const end = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    pass() {
      state = 'pass'
      delayMs = 0
      opened.resolve()
    },
    hold() {
      state = 'hold'
      opened = Promise.withResolvers()
    },
    cut() {
      state = 'cut'
      opened.resolve()
      end()
    },
    slow(ms) {
      delayMs = ms
    },
    async close() {
      opened.resolve()
      end()
      server.close()
      await once(server, 'close')
    },
  }
}
