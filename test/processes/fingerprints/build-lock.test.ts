import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { withBuildLock } from '../../../src/fingerprints/build/build-lock.ts'

const MODULE = new URL('../../../src/fingerprints/build/build-lock.ts', import.meta.url).href

it('a build is not in the way of the next one when its process is killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-build-lock-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const build = () => withBuildLock(folder, async () => 'built')
  const code = `import { withBuildLock } from ${JSON.stringify(MODULE)}
    await withBuildLock(${JSON.stringify(folder)}, () => { console.log('in'); return new Promise(done => setInterval(done, 1e6)) })`
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', code])
  await once(child.stdout, 'data')
  await expect(build()).rejects.toThrow('another build is under way')
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect(await build()).toBe('built')
})
