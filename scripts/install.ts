import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Installation, installationFor } from '../src/runtime/installation.ts'
import type { Env } from './install/choose-node.ts'
import { checkOurs, type Installed, installUser } from './install/install-user.ts'
import { adviceForPath, isOnPath } from './install/search-path.ts'

/**
 * npm run install:user [-- --bin FOLDER] [--built]
 *
 * Builds, and installs for this user alone: no network, no root, no prefix of npm. The same command
 * upgrades. `--built` takes `dist` as it is.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const { values } = parseArgs({
  options: { bin: { type: 'string' }, built: { type: 'boolean' } },
})

try {
  const env = process.env
  const place = installationFor(env, { bin: values.bin && resolve(values.bin) })
  if (place === null) throw new Error('this user has no home folder: set HOME')
  checkOurs(place)
  checkWritable(place)
  if (values.built !== true) build()
  process.stdout.write(`${report(installUser({ root: ROOT, env, place }), place, env)}\n`)
} catch (error) {
  process.stderr.write(`haversack: ${(error as Error).message}\n`)
  process.exitCode = 1
}

/** Before a build that takes its time. @throws Error for a folder that cannot be written */
function checkWritable({ launcher, folder }: Installation): void {
  for (const each of [dirname(launcher), folder]) {
    let there = each
    while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
    try {
      accessSync(there, constants.W_OK)
    } catch {
      throw new Error(`${there} may not be written`)
    }
  }
}

function build(): void {
  process.stderr.write('Building, some 15 seconds.\n')
  const script = join(ROOT, 'scripts/build.ts')
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the build failed')
}

function report({ name, node }: Installed, { launcher }: Installation, env: Env): string {
  const bin = dirname(launcher)
  return [
    `Haversack ${name} is installed: ${launcher}`,
    `It runs with ${node.isCopied ? 'a copy of the Node of this clone' : node.path}.`,
    ...(isOnPath(bin, env)
      ? []
      : ['', `${bin} is not on your PATH yet. This adds it:`, `  ${adviceForPath(bin, env)}`]),
    '',
    'Try:     haversack run -- claude',
    'Upgrade: npm run install:user',
    'Remove:  haversack uninstall',
  ].join('\n')
}
