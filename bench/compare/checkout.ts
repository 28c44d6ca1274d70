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
 * Checks a commit out beside this one, with the packages that are installed here.
 * @throws {Error} if there is no such commit
 */
export function checkOut(name: string): Checkout {
  const commit = git('rev-parse', '--verify', `${name}^{commit}`).trim()
  const above = mkdtempSync(join(tmpdir(), 'haversack-compare-'))
  const folder = join(above, 'checkout')
  git('worktree', 'add', '--detach', folder, commit)
  symlinkSync(join(HERE, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    commit,
    [Symbol.dispose]() {
      git('worktree', 'remove', '--force', folder)
      rmSync(above, { recursive: true, force: true })
    },
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', ['-C', HERE, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
