import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Eras } from './fixture/http-endpoint.ts'

const SERVE = fileURLToPath(new URL('fixture/serve.ts', import.meta.url))

/** The fixture in a process of its own, over Streamable HTTP. */
export interface FixtureProcess {
  readonly url: string
  readonly child: ChildProcess
  /** Ends the process and waits for that. */
  close(): Promise<void>
}

/**
 * Starts the fixture and waits until it listens.
 *
 * @param port One that is free, to take the place of a fixture that ended; else any.
 */
export async function startFixture(eras: Eras = 'both', port = 0): Promise<FixtureProcess> {
  const args = [SERVE, '--eras', eras, '--port', String(port)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })
  const url = await Promise.race([
    once(lines, 'line').then(([line]) => String(line)),
    ended.then(([code]) => Promise.reject(new Error(`the fixture ended with ${code}`))),
  ])
  return {
    url,
    child,
    close: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

/** How to start the fixture over stdio. */
export function fixtureCommand(eras: Eras = 'both'): { command: string; args: string[] } {
  return { command: process.execPath, args: [SERVE, '--eras', eras] }
}
