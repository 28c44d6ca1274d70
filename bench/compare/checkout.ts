import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository that this file is in. */
export const HERE = fileURLToPath(new URL('../..', import.meta.url))

/** A commit's files in a folder of their own. */
export interface Checkout extends Disposable {
  readonly folder: string
  /** The commit's hash. */
  readonly commit: string
}

/**
 * Unpacks a commit beside this one, with the packages that are installed here. If the process is
 * killed, a folder for temporary files remains, and nothing in the repository.
 * @throws {Error} if there is no such commit
 */
export function checkOut(name: string): Checkout {
  const commit = run('git', '-C', HERE, 'rev-parse', '--verify', `${name}^{commit}`).trim()
  const folder = mkdtempSync(join(tmpdir(), 'haversack-compare-'))
  const archive = join(folder, 'archive.tar')
  run('git', '-C', HERE, 'archive', '--format=tar', '-o', archive, commit)
  run('tar', '-xf', archive, '-C', folder)
  rmSync(archive)
  symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    commit,
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function run(program: string, ...args: readonly string[]): string {
  return execFileSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
