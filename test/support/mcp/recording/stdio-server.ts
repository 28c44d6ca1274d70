import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { bundledWorker } from '../../bundled-worker.ts'
import type { Channel } from './exchange.ts'

const CHILD = fileURLToPath(bundledWorker(new URL('child-process.ts', import.meta.url)))

/** A process that a client has started. */
export interface StdioProcess {
  readonly pid: number
  /** Whether the server started it, and not the client. */
  readonly forked: boolean
  readonly channel: Channel
}

export interface StdioServer {
  /** The processes that live. */
  readonly processes: ReadonlySet<StdioProcess>
  /** How a client starts one. */
  command(...flags: readonly string[]): { command: string; args: string[] }
  /** Ends all processes. */
  close(): Promise<void>
}

/** Listens for processes, and calls `onLine` for each line that a client writes to one. */
export async function startStdioServer(
  onLine: (line: Buffer, channel: Channel) => void,
): Promise<StdioServer> {
  const processes = new Set<StdioProcess>()
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, socket => {
    sockets.add(socket)
    let child: StdioProcess | undefined
    const lines = splitLines(line => {
      if (child !== undefined) return onLine(line, child.channel)
      child = introduce(line.toString(), socket)
      processes.add(child)
    })
    socket.on('data', lines)
    // A process that was killed resets its connection.
    socket.on('error', () => socket.destroy())
    socket.on('end', () => socket.destroy())
    socket.on('close', () => {
      sockets.delete(socket)
      if (child !== undefined) processes.delete(child)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    processes,
    command: (...flags) => ({
      command: process.execPath,
      args: [CHILD, '--port', String(port), ...flags],
    }),
    close: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function introduce(line: string, socket: Socket): StdioProcess {
  const [pid, role] = line.split(' ')
  return {
    pid: Number(pid),
    forked: role === 'forked',
    channel: {
      gone: once(socket, 'close').then(() => undefined),
      header: () => undefined,
      open: () => undefined,
      message: json => void socket.write(`${json}\n`),
      raw: bytes => void socket.write(bytes),
      end: () => void socket.end(),
      die: () => void process.kill(Number(pid), 'SIGKILL'),
      status: () => undefined,
    },
  }
}

/** Calls `onLine` with each line, without its end; the rest waits for more. */
function splitLines(onLine: (line: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0)
  return chunk => {
    rest = Buffer.concat([rest, chunk])
    for (let end = rest.indexOf(0x0a); end !== -1; end = rest.indexOf(0x0a)) {
      onLine(rest.subarray(0, end))
      rest = rest.subarray(end + 1)
    }
  }
}
