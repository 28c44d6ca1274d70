import { existsSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Marks the root of a repository: a folder, or in a worktree a file. */
const ROOT = '.git'
const MAX_NAME = 64
/** A header may have the name. */
const UNSAFE = /[^\x21-\x7e]/g

/** The name of the repository of a folder, by its root; `undefined` if it is in none. */
export function repositoryName(from: string): string | undefined {
  const root = foldersUpTo(from)?.at(-1)
  return root === undefined ? undefined : basename(root).replaceAll(UNSAFE, '_').slice(0, MAX_NAME)
}

/** The folder and those above it, up to the repository's root; `null` if it is in none. */
export function foldersUpTo(from: string): readonly string[] | null {
  const folders: string[] = []
  let folder = resolve(from)
  for (;;) {
    folders.push(folder)
    if (existsSync(join(folder, ROOT))) return folders
    const above = dirname(folder)
    if (above === folder) return null
    folder = above
  }
}
