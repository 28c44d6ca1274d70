import { registerHooks } from 'node:module'
import { bundledWorker } from './bundled-worker.ts'

/**
 * `node --import` of a process that a test starts: it and its threads run the bundles of
 * `bundle-workers.ts` instead of hundreds of sources.
 */
registerHooks({
  resolve(specifier, context, next) {
    const found = next(specifier, context)
    if (!found.url.endsWith('.ts')) return found
    const url = bundledWorker(new URL(found.url)).href
    return url === found.url ? found : { ...found, url, format: 'module' }
  },
})
