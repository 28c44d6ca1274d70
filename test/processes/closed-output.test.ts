import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'haversack-closed-'))
afterAll(() => rmSync(folder, { recursive: true }))

const large = join(folder, 'large.txt')
writeFileSync(large, Array.from({ length: 40_000 }, (_, n) => `${n * n} ${n % 7}`).join('\n'))

/** Runs a command whose reader leaves at once. */
async function withoutReader(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const child = spawn(process.execPath, [CLI, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, HOME: folder, ...env },
  })
  child.stdout.destroy()
  const errors: Buffer[] = []
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk))
  const [code] = await once(child, 'close')
  return { code: code as number, stderr: Buffer.concat(errors).toString() }
}

describe('a command whose output nobody reads any more', () => {
  it.each([
    [['encode', '--json', large]],
    [['count', large]],
    [['--help']],
    [['encode', '--help']],
    [['config', 'show']],
    [['--version']],
  ])('%s ends as others do, without a trace', async args => {
    const { code, stderr } = await withoutReader(args)
    expect(code).toBe(141)
    expect(stderr).not.toMatch(/Error|at .*:\d+/)
  })

  it('that is `run` has the exit code of its own command', async () => {
    const { code } = await withoutReader(['run', '--', 'sh', '-c', 'exit 7'])
    expect(code).toBe(7)
  })
})
