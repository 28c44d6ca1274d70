import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join, relative, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import workerThreads from 'node:worker_threads'

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
  if (folder === undefined || source.protocol !== 'file:') return source
  const bundle = join(folder, `${bundleName(source)}.mjs`)
  return existsSync(bundle) ? pathToFileURL(bundle) : source
}

let isRedirected = false

/** Has the threads that this process starts from now on run the bundles of their modules. */
export function useBundledWorkers(): void {
  if (isRedirected) return
  isRedirected = true
  const { Worker } = workerThreads
  workerThreads.Worker = class extends Worker {
    constructor(module: string | URL, options?: workerThreads.WorkerOptions) {
      super(module instanceof URL ? bundledWorker(module) : module, options)
    }
  }
  syncBuiltinESMExports()
}
