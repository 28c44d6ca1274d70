import { existsSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The variable of the environment that names the folder of bundles. */
export const BUNDLES = 'TEST_WORKERS'

const ROOT = resolve(import.meta.dirname, '../..')

/** What the bundle of a module is called, without the suffix. */
export function bundleName(source: URL): string {
  return relative(ROOT, fileURLToPath(source)).replace(/\.ts$/, '').replaceAll('/', '-')
}

/** The bundle of a worker's module. Returns the module itself if this run has no bundle of it. */
export function bundledWorker(source: URL): URL {
  const folder = process.env[BUNDLES]
  if (folder === undefined) return source
  const bundle = join(folder, `${bundleName(source)}.mjs`)
  return existsSync(bundle) ? pathToFileURL(bundle) : source
}
