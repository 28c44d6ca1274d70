import { enableCompileCache } from 'node:module'

// Must come before the modules that it keeps compiled, so these are imported after it.
enableCompileCache()
const { runService } = await import('./service/lifecycle.ts')
process.exitCode = await runService({ overrides: {}, insecure: false })
