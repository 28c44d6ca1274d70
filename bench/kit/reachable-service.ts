import { runService } from '../../src/service/lifecycle.ts'

/** A service that containers reach. It has no credentials: agents bring their own. */
process.exitCode = await runService({ overrides: {}, insecure: true })
