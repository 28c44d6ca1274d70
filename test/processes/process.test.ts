import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'

const children: ChildProcess[] = []
const folder = mkdtempSync(join(tmpdir(), 'haversack-process-'))
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** A service in a process of its own, and all that it printed. */
function start(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}) {
  const path = fileURLToPath(new URL(`../../src/${script}`, import.meta.url))
  const child = spawn(process.execPath, [path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HAVERSACK_DATA_DIR: folder, ...env },
  })
  children.push(child)
  const printed = { stdout: '', stderr: '' }
  child.stdout.on('data', chunk => {
    printed.stdout += chunk
  })
  child.stderr.on('data', chunk => {
    printed.stderr += chunk
  })
  const exited = once(child, 'exit').then(([code]) => code as number | null)
  const listening = once(createInterface({ input: child.stdout }), 'line').then(([line]) => {
    const url = /^haversack listens on (http:\S+)$/.exec(line)?.[1]
    if (url === undefined) throw new Error(line)
    return url
  })
  return { child, printed, exited, listening }
}

const encode = (url: string, content: string) =>
  fetch(`${url}/v1/encode`, {
    method: 'POST',
    body: JSON.stringify({ content }),
    headers: { 'content-type': 'application/json' },
  })

async function admittedJobs(url: string): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^haversack_admitted_jobs (\d+)$/m.exec(metrics)?.[1] ?? 0)
}

describe('the service as a process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('ends with 0 on %s, after its answers', async signal => {
    const { child, listening, exited, printed } = start('main.ts', [], { HAVERSACK_PORT: '0' })
    const url = await listening
    const large = JSON.stringify(
      Array.from({ length: 40_000 }, (_, id) => ({ id, name: `n ${id}` })),
    )
    let answered = 0
    const answers = Array.from({ length: 4 }, () =>
      encode(url, large).finally(() => {
        answered++
      }),
    )
    // All have reached the service: the signal finds those that are not answered in the middle of
    // their work.
    for (;;) {
      const before = answered
      if (before + (await admittedJobs(url)) >= answers.length) break
    }
    child.kill(signal)
    for (const answer of await Promise.all(answers)) {
      expect(answer.status).toBe(200)
      expect(await answer.json()).toMatchObject({ layer: 'L2' })
    }
    expect(await exited).toBe(0)
    expect(printed.stdout).toBe(`haversack listens on ${url}\nwhat it saves: ${url}/ui\n`)
  })

  it('starts by the command too, on the port that it is told', async () => {
    const { child, listening, exited } = start('cli.ts', ['serve', '--port', '0'])
    expect((await encode(await listening, 'x')).status).toBe(200)
    child.kill('SIGTERM')
    expect(await exited).toBe(0)
  })

  it('ends with 2 and every fault where the configuration cannot be used', async () => {
    const { exited, printed } = start('main.ts', [], {
      HAVERSACK_PORT: '99999',
      HAVERSACK_WORKERS: 'many',
    })
    expect(await exited).toBe(2)
    expect(printed.stderr).toContain('HAVERSACK_PORT')
    expect(printed.stderr).toContain('HAVERSACK_WORKERS')
    expect(printed.stdout).toBe('')
  })

  it('does not listen where others reach it without being told so', async () => {
    const { exited, printed } = start('cli.ts', ['serve', '--port', '0', '--host', '0.0.0.0'])
    expect(await exited).toBe(2)
    expect(printed.stderr).toContain('--insecure')
  })
})
