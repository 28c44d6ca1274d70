import { appendFileSync, cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../..', import.meta.url))
const COPIED = ['src', 'workers', 'views', 'package.json', 'models.toml', 'prices.toml']

/** A copy of the service that other processes of a store take for the next version. */
export interface NextVersion {
  /** What is started instead of `src/main.ts`. */
  readonly main: string
  remove(): void
}

/**
 * Copies the service, with a library of functions of its own. It writes records in the layout of
 * this version, as a next version does as long as some process reads no later one.
 */
export function copyNextVersion(): NextVersion {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-next-'))
  for (const name of COPIED) cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  // The library is named by its text.
  appendFileSync(join(folder, 'src/store/redis/library/base.lua'), '\n-- The next version.\n')
  return {
    main: join(folder, 'src/main.ts'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}
