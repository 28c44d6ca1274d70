import { constants, enableCompileCache } from 'node:module'

/**
 * Keeps compiled modules on disk between starts, those of worker threads too: a thread takes the cache
 * from the environment, not from the thread that started it (`npm run bench:start`).
 */
export function keepCompiled(): void {
  const { status, directory } = enableCompileCache()
  if (status !== constants.compileCacheStatus.ENABLED || directory === undefined) return
  process.env['NODE_COMPILE_CACHE'] = directory
}
