import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/**
 * npm start
 *
 * Starts the service from its sources, or from `dist/` where only what the package depends on is
 * installed (`npm ci --omit=dev`).
 */
const BUILT = new URL('../dist/src/cli.js', import.meta.url)

/** A package that is put into `dist/`, so that it is only installed for development. */
function hasDevelopmentPackages(): boolean {
  try {
    import.meta.resolve('hono')
    return true
  } catch {
    return false
  }
}

if (hasDevelopmentPackages()) await import('../src/cli.ts')
else if (existsSync(fileURLToPath(BUILT))) await import(BUILT.href)
else {
  process.stderr.write(
    'haversack: there is nothing to start: npm ci && npm run build, and then npm ci --omit=dev\n',
  )
  process.exitCode = 1
}
