import { connect, type Socket } from 'node:net'
import { load, startServer } from '../support/processes.ts'
import { median } from '../support/statistics.ts'
import { encodeBodies } from './bodies.ts'

const SLOW = 200
const IDLE = 1_000
/** Between the bytes that a slow client sends. */
const DRIP_MS = 100

/** The p99 of normal clients alone, and beside slow and idle ones, in turn. */
export async function slowClients(folder: string, rounds: number, seconds: number) {
  const server = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'silent',
  })
  const bodies = encodeBodies(folder, 4096, 32)
  const plan = {
    port: server.port,
    path: '/v1/encode',
    method: 'POST',
    bodies,
    connections: 4,
    seconds,
  } as const
  await load(plan)
  const pairs: { alone: number; beside: number }[] = []
  for (let round = 0; round < rounds; round++) {
    const alone = await load(plan)
    const others = await openOthers(server.port)
    const beside = await load(plan)
    for (const socket of others.sockets) socket.destroy()
    others.stop()
    if (alone.errors + beside.errors > 0) throw new Error('requests failed')
    pairs.push({ alone: alone.p99_ms, beside: beside.p99_ms })
  }
  await server.stop()
  return {
    alone_p99_ms: median(pairs.map(pair => pair.alone)),
    beside_p99_ms: median(pairs.map(pair => pair.beside)),
    ratio: median(pairs.map(pair => pair.beside / pair.alone)),
    ratios: pairs.map(pair => pair.beside / pair.alone),
  }
}

/**
 * Clients that send a byte now and then, half of them within the head, and ones that send nothing.
 */
async function openOthers(port: number) {
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket))
      socket.once('error', reject)
    })
  const idle = await Promise.all(Array.from({ length: IDLE }, open))
  const slow = await Promise.all(Array.from({ length: SLOW }, open))
  for (const socket of [...idle, ...slow]) socket.on('error', () => {})
  slow.forEach((socket, index) => {
    socket.write(
      'POST /v1/encode HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n',
    )
    if (index % 2 === 0) socket.write('content-length: 4000000\r\n\r\n{"content":"')
    else socket.write('x-slow: ')
  })
  const drip = setInterval(() => {
    for (const socket of slow) if (socket.writable) socket.write('x')
  }, DRIP_MS)
  return { sockets: [...idle, ...slow], stop: () => clearInterval(drip) }
}
