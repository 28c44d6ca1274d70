import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A link that can be made bad. */
export interface Relay {
  readonly port: number
  /** Passes everything on at once; what was held comes first. */
  pass(): void
  /**
   * Holds everything. Connections stay open, and new ones are accepted.
   * @param isExempt whether a client passes, by its port
   */
  hold(isExempt?: (port: number) => boolean): void
  /** Passes on what clients send, and holds what they would hear. */
  deafen(): void
  /** Ends all connections, and accepts none. What was on its way is lost. */
  cut(): void
  /** Passes each piece on so much later. */
  slow(ms: number): void
  close(): Promise<void>
}

/** Listens on a free port, and passes on to another one, which may be known later. */
export async function startRelay(target: number | (() => number)): Promise<Relay> {
  const sockets = new Set<Socket>()
  let state: 'pass' | 'hold' | 'cut' = 'pass'
  let delayMs = 0
  const gates = { asked: openGate(), answered: openGate() }
  let isExempt: (port: number) => boolean = () => false

  async function pump(
    from: Socket,
    to: Socket,
    way: keyof typeof gates,
    port: number,
  ): Promise<void> {
    try {
      for await (const piece of from) {
        if (delayMs > 0) await sleep(delayMs)
        if (!isExempt(port)) await gates[way].promise
        to.write(piece as Buffer)
      }
    } catch {
      // The link was cut.
    } finally {
      if (!isExempt(port)) await gates[way].promise
      to.destroy()
    }
  }

  const server = createServer(client => {
    if (state === 'cut') {
      client.destroy()
      return
    }
    const upstream = connect(typeof target === 'number' ? target : target(), '127.0.0.1')
    const { remotePort = 0 } = client
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => {})
      socket.once('close', () => sockets.delete(socket))
    }
    void pump(client, upstream, 'asked', remotePort)
    void pump(upstream, client, 'answered', remotePort)
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
      gates.asked.resolve()
      gates.answered.resolve()
    },
    hold(exempt = () => false) {
      state = 'hold'
      isExempt = exempt
      gates.asked = Promise.withResolvers()
      gates.answered = Promise.withResolvers()
    },
    deafen() {
      state = 'hold'
      gates.answered = Promise.withResolvers()
    },
    cut() {
      state = 'cut'
      gates.asked.resolve()
      gates.answered.resolve()
      end()
    },
    slow(ms) {
      delayMs = ms
    },
    async close() {
      gates.asked.resolve()
      gates.answered.resolve()
      end()
      server.close()
      await once(server, 'close')
    },
  }
}

function openGate(): PromiseWithResolvers<void> {
  const gate = Promise.withResolvers<void>()
  gate.resolve()
  return gate
}
