import { execFile } from 'node:child_process'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Pages whose commands are run as they are, in a folder of their own. */
const PAGES = ['sceptic.md']
const BLOCK = /^```(sh|text)\n(.*?)^```$/gms

const folder = mkdtempSync(join(tmpdir(), 'haversack-pages-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A folder with the program, as a shell finds it. */
function programFolder(): string {
  const path = join(folder, 'haversack')
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, 'src/cli.ts')}" "$@"\n`)
  chmodSync(path, 0o755)
  return folder
}

/** Each block of commands, and what the page says that it prints. */
function stepsOf(page: string): { commands: string; printed: string }[] {
  const steps: { commands: string; printed: string }[] = []
  const text = readFileSync(join(ROOT, 'docs/guide', page), 'utf8')
  for (const [, kind, content = ''] of text.matchAll(BLOCK)) {
    if (kind === 'sh') steps.push({ commands: content, printed: '' })
    else steps.at(-1)!.printed = content
  }
  return steps
}

describe.each(PAGES)('%s', page => {
  it('has commands that print what it says', async () => {
    const steps = stepsOf(page)
    expect(steps.length).toBeGreaterThan(3)
    const cwd = mkdtempSync(join(folder, 'page-'))
    const env = {
      ...process.env,
      PATH: [programFolder(), process.env['PATH']].join(delimiter),
      HAVERSACK_DATA_DIR: join(folder, 'data'),
    }
    for (const { commands, printed } of steps) {
      const { stdout } = await promisify(execFile)('sh', ['-ec', commands], { cwd, env })
      expect(stdout, commands).toBe(printed)
    }
  })

  it('is short', () => {
    const lines = readFileSync(join(ROOT, 'docs/guide', page), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.length).toBeLessThanOrEqual(60)
  })
})
