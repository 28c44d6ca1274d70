import { registerHooks } from 'node:module'

/**
 * Resolves our own imports, which name a file. For each of them, Vitest's hook sends a message to
 * the main process, which only watch mode needs: thousands in a run of all tests.
 */
if (process.env['VITEST_MODE'] !== 'WATCH') {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const { parentURL } = context
      if (parentURL === undefined || !isOurs(specifier)) return nextResolve(specifier, context)
      return { url: new URL(specifier, parentURL).href, shortCircuit: true }
    },
  })
}

function isOurs(specifier: string): boolean {
  return specifier.startsWith('.') && specifier.endsWith('.ts')
}
