import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startProcess } from '../../test/support/service-process.ts'
import type { AgentClient } from './clients.ts'
import type { Step } from './project.ts'
import { startScriptedVendor } from './vendor.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
/** Our command line. */
export const HAVERSACK: readonly string[] = [process.execPath, CLI]

const LIMIT_MS = 300_000
/** npm puts our own Node first, which not every agent runs on. */
const PATH_OF_USERS = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter(folder => !folder.endsWith(join('node_modules', '.bin')))
  .join(delimiter)
const run = promisify(execFile)

/** An agent on this machine. */
export interface Subject {
  readonly client: AgentClient
  readonly command: readonly string[]
}

/** How one conversation is started. */
interface Start {
  readonly script: readonly Step[]
  /** Where it works; absent: at its own home. */
  readonly cwd?: string
  /** A command that is given the agent's. */
  readonly before?: readonly string[]
  /** Whether a service makes its results smaller by the hook of Claude Code. */
  readonly hasHook?: boolean
  /** Arguments, once the agent's files are at its home. */
  more?(home: string): readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** What came of a conversation. */
interface Ran {
  /** The last line of its output. */
  readonly answer: string
  readonly requests: readonly Uint8Array[]
  /** Why the agent failed; `null` if it did not. */
  readonly failure: unknown
}

/** Runs one conversation of an agent with a home of its own, to its end. */
export async function runAgent({ client, command }: Subject, start: Start): Promise<Ran> {
  const home = mkdtempSync(join(tmpdir(), 'haversack-agent-'))
  const { script, cwd = home, before = [], more, env } = start
  const vendor = await startScriptedVendor(script)
  const hook = start.hasHook === true ? await startHook(home) : null
  try {
    const PATH = [hook?.programs ?? [], PATH_OF_USERS].flat().join(delimiter)
    const all = { PATH, HOME: home, ...client.prepare(home, vendor.url), ...env }
    const [file, ...args] = [...before, ...command, ...(more?.(home) ?? [])]
    const running = run(file!, args, { cwd, env: all, timeout: LIMIT_MS })
    running.child.stdin?.end()
    const ended = await running.catch((failure: unknown) => ({ stdout: '', failure }))
    const answer = ended.stdout.trim().split('\n').at(-1) ?? ''
    const failure = 'failure' in ended ? ended.failure : null
    return { answer, requests: vendor.requests, failure }
  } finally {
    await hook?.close()
    await vendor.close()
    rmSync(home, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** A service, and a program `haversack` for the agent's path, which asks it as its hook. */
async function startHook(home: string) {
  const programs = join(home, 'programs')
  mkdirSync(programs)
  const script = `#!/bin/sh\nexec "${process.execPath}" "${CLI}" "$@"\n`
  writeFileSync(join(programs, 'haversack'), script, { mode: 0o755 })
  const { child, exited, url } = await startProcess({ env: { HOME: home } })
  const setup = ['setup', 'claude', '--hook', '--yes', '--url', url]
  await run(process.execPath, [CLI, ...setup], { env: { ...process.env, HOME: home } })
  return {
    programs,
    async close() {
      child.kill()
      await exited
    },
  }
}
