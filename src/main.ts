import { keepCompiled } from './config/compile-cache.ts'

// Before the modules that it is to keep compiled, which is why they are imported behind it.
keepCompiled()
const { runService } = await import('./lifecycle.ts')
process.exitCode = await runService({ overrides: {}, insecure: false })
