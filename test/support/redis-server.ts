import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '@redis/client'
import { endWithThis } from './end-with-this.ts'

export interface RedisProcess {
  readonly port: number
  readonly url: string
  /** The id of the process that runs now. */
  readonly pid: number
  /** Sends one command as an operator would, and returns the answer as text. */
  ask(...args: string[]): Promise<unknown>
  /**
   * Kills the process and starts it again: what was not saved since is lost.
   * @param downMs how long there is none between
   * @param between called while there is none, and waited for
   */
  restart(downMs?: number, between?: () => void | Promise<void>): Promise<void>
  /** Ends the process; data that is not on disk is lost. */
  stop(): Promise<void>
}

/** How often a server that reads its file is asked again. */
const LOADING_MS = 20
/** The servers to test against, and what says that none is there. */
const BINARY = process.env['REDIS_SERVER'] ?? 'redis-server'

/**
 * Starts a Redis of its own, in memory only, on a free port.
 * @throws Error that says what to install if there is none
 */
export async function startRedis(...settings: string[]): Promise<RedisProcess> {
  return start(folder => ['--dir', folder, '--save', '', ...settings])
}

/** The same for a Sentinel. @param file its settings, which it rewrites */
export function startSentinel(file: string): Promise<RedisProcess> {
  return start(() => [file, '--sentinel'])
}

async function start(settings: (folder: string) => readonly string[]): Promise<RedisProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-redis-'))
  const port = await freePort()
  const own = settings(folder)
  const args = [...own, '--port', `${port}`, '--bind', '127.0.0.1']
  let child = endWithThis(spawn(BINARY, args, { stdio: 'ignore' }))
  const failed = new Promise<never>((_, reject) => {
    child.on('error', () =>
      reject(new Error('install redis-server, or set TEST_WITHOUT_REDIS=1 to skip these tests')),
    )
  })
  const url = `redis://127.0.0.1:${port}`
  const client = createClient({ url, RESP: 2, socket: { reconnectStrategy: 50 } })
  client.on('error', () => {})
  await Promise.race([client.connect(), failed])
  return {
    port,
    url,
    get pid() {
      return child.pid as number
    },
    ask: (...args) => client.sendCommand(args),
    async restart(downMs = 0, between = () => {}) {
      await ended(child)
      await between()
      await sleep(downMs)
      child = endWithThis(spawn(BINARY, args, { stdio: 'ignore' }))
      while (!(await isLoaded(client))) await sleep(LOADING_MS)
    },
    async stop() {
      client.destroy()
      await ended(child)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Whether a server that was started again has read its file. */
async function isLoaded(client: Pick<ReturnType<typeof createClient>, 'sendCommand'>) {
  try {
    await client.sendCommand(['PING'])
    return true
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('LOADING')) return false
    throw error
  }
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve()
  return new Promise(resolve => {
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
  })
}

function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>()
  const server = createServer()
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    server.close(() => resolve(port))
  })
  return promise
}
