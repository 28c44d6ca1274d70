import { enableCompileCache } from 'node:module'

// Before the modules that it is to keep compiled, which is why they are imported behind it.
enableCompileCache()
const { runService } = await import('./service/lifecycle.ts')
process.exitCode = await runService({ overrides: {}, insecure: false })
