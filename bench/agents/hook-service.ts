import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
/** The service listens on a port that it is given none of, and says which. */
const LISTENING = /http:\/\/127\.0\.0\.1:\d+/

/** A service, and a program `haversack` that asks it as Claude Code's hook. */
export interface HookService {
  /** A folder with the program, for the agent's path. */
  readonly programs: string
  close(): Promise<void>
}

/** Starts a service and sets the hook in the settings of Claude Code below `home`. */
export async function startHookService(home: string): Promise<HookService> {
  const programs = join(home, 'programs')
  mkdirSync(programs)
  const script = `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`
  writeFileSync(join(programs, 'haversack'), script, { mode: 0o755 })
  const env = { ...process.env, HOME: home, HAVERSACK_DATA_DIR: join(home, 'data') }
  const start = (args: readonly string[]) =>
    spawn(process.execPath, [CLI, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const service = start(['serve', '--port', '0'])
  const url = await addressOf(service.stdout, service.stderr)
  const setup = start(['setup', 'claude', '--hook', '--yes', '--url', url])
  const [code] = await once(setup, 'exit')
  if (code !== 0) throw new Error('haversack setup claude --hook failed')
  return {
    programs,
    async close() {
      const ended = once(service, 'exit')
      service.kill()
      await ended
    },
  }
}

/** Reads on, so that the service can always write. */
function addressOf(...streams: readonly NodeJS.ReadableStream[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    for (const stream of streams) {
      stream.on('data', (chunk: Buffer) => {
        text += chunk
        const found = LISTENING.exec(text)
        if (found !== null) resolve(found[0])
      })
      stream.on('end', () => reject(new Error(`no service: ${text}`)))
    }
  })
}
