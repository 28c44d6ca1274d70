import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Env } from '../config/env.ts'
import { homeFolder, userDataFolder } from '../config/user-folders.ts'

/** Where `npm run install:user` puts things for one user. */
export interface Installation {
  /** The file that starts the current version; it stays through upgrades. */
  readonly launcher: string
  /** Has `versions`, `current`, and by default the user's data. */
  readonly folder: string
}

/** Beside the code of an installed version: its `Installation` as JSON. */
export const INSTALLATION_FILE = 'install.json'

/** In each launcher, which tells it from a file of another program. */
export const LAUNCHER_MARK = 'Haversack launcher, written by npm run install:user'

const OWN_FILE = new URL(`../../${INSTALLATION_FILE}`, import.meta.url)

/** Where an installation for this user is made. `null`: this user has no home. */
export function installationFor(
  env: Env,
  {
    bin,
    platform = process.platform,
  }: { bin?: string | undefined; platform?: NodeJS.Platform } = {},
): Installation | null {
  const home = env['HOME'] || homeFolder()
  if (home === null) return null
  const data = env['XDG_DATA_HOME'] || join(home, '.local', 'share')
  return {
    launcher: join(
      bin ?? join(home, '.local', 'bin'),
      platform === 'win32' ? 'haversack.cmd' : 'haversack',
    ),
    folder: userDataFolder({ ...env, XDG_DATA_HOME: data }),
  }
}

/** The installation that this process was started from; `null` for a clone or a package. */
export function ownInstallation(): Installation | null {
  try {
    return JSON.parse(readFileSync(OWN_FILE, 'utf8')) as Installation
  } catch {
    return null
  }
}

/** How another program starts this one without a shell. */
export function ownProgram(): string {
  return ownInstallation()?.launcher ?? 'haversack'
}

/** The same for a shell: a path that a shell would take apart is quoted. */
export function ownProgramInShell(): string {
  return quoteForShell(ownProgram())
}

/** Whether another program's file starts us by this name or path. */
export function isOwnProgram(command: unknown): boolean {
  return typeof command === 'string' && /(?:^|[\\/])haversack(?:\.cmd)?$/.test(command)
}

/** A path as one word of a shell: `sh`, or on Windows `cmd`. */
export function quoteForShell(path: string, platform = process.platform): string {
  if (/^[\w@%+=:,./-]+$/.test(path)) return path
  return platform === 'win32' ? `"${path}"` : `'${path.replaceAll("'", "'\\''")}'`
}
