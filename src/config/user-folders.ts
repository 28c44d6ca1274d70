import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Env } from './env.ts'

const NAME = 'haversack'

/** Where the user's data is if nothing else is named (XDG Base Directory). */
export function userDataFolder(env: Env): string {
  return userFolder(env['XDG_DATA_HOME'], ['.local', 'share'], '/var/lib')
}

/** Where packed vocabularies are kept between starts; safe to delete. */
export function cacheFolder(env: Env): string {
  const named = env['HAVERSACK_CACHE_DIR']
  if (named !== undefined && named !== '') return withHome(named)
  return userFolder(env['XDG_CACHE_HOME'], ['.cache'], '/var/cache')
}

/**
 * @param named a relative path has no meaning there
 * @param shared for a user without a home, such as one that a cluster has made up
 */
function userFolder(named: string | undefined, inHome: readonly string[], shared: string): string {
  if (named !== undefined && isAbsolute(named)) return join(named, NAME)
  const home = homeFolder()
  return home === null ? join(shared, NAME) : join(home, ...inHome, NAME)
}

/** The home of the user; `null` if there is none. */
export function homeFolder(): string | null {
  try {
    const home = homedir()
    return isAbsolute(home) ? home : null
  } catch {
    // No HOME, and no entry for the user.
    return null
  }
}

/** The same. @throws Error if there is none */
export function ownHome(): string {
  const home = homeFolder()
  if (home === null) throw new Error('this user has no home folder: set HOME')
  return home
}

/** A path with the home in place of a `~` at its start, as a shell would read it. */
export function withHome(path: string): string {
  const home = /^~(?=\/|$)/.test(path) ? homeFolder() : null
  return home === null ? path : join(home, path.slice(1))
}
