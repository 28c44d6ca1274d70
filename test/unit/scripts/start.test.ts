import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const SCRIPT = fileURLToPath(new URL('../../../scripts/start.ts', import.meta.url))

/** `npm start` where only what the package depends on is installed. */
function start(built?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-start-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'dist/src'), { recursive: true })
  cpSync(SCRIPT, join(folder, 'scripts/start.ts'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  if (built !== undefined) writeFileSync(join(folder, 'dist/src/cli.js'), built)
  const script = join(folder, 'scripts/start.ts')
  return spawnSync(process.execPath, [script, 'serve'], { encoding: 'utf8' })
}

it('starts what was built', () => {
  const { status, stdout } = start('console.log(process.argv.slice(2).join())')
  expect([status, stdout]).toEqual([0, 'serve\n'])
})

it('says what to build if nothing was', () => {
  const { status, stderr } = start()
  expect([status, stderr]).toEqual([1, expect.stringContaining('npm ci && npm run build')])
})
