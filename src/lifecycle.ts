import { KeysFileError } from './access/keys-file.ts'
import { processEnv } from './config/env.ts'
import { ConfigError, type LoadOptions, loadConfig } from './config/load.ts'
import { EXIT } from './exit-codes.ts'
import { type Service, startService } from './service.ts'

/**
 * Runs the service until SIGTERM or SIGINT, then drains it; a second signal exits at once. SIGHUP reads
 * keys and configuration again. Prints one line with the address when ready. Resolves to the exit code.
 */
export async function runService(options: Omit<LoadOptions, 'env'>): Promise<number> {
  try {
    const load = () => loadConfig({ ...options, env: processEnv() })
    const stopped = signalled()
    let service: Service | undefined
    // From the start on: until there is a service, what it will read is new anyway.
    process.on('SIGHUP', () => service?.reload(load))
    service = await startService(load())
    process.stdout.write(`haversack listens on ${service.url}\n`)
    await stopped
    process.once('SIGTERM', exitNow).once('SIGINT', exitNow)
    await service.close()
    return EXIT.ok
  } catch (error) {
    process.stderr.write(`haversack: ${reasonOf(error)}\n`)
    const isUsage = error instanceof ConfigError || error instanceof KeysFileError
    return isUsage ? EXIT.usage : EXIT.failed
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const isTaken = 'code' in error && error.code === 'EADDRINUSE'
  return isTaken
    ? `${error.message}; end what listens there, or give another --port`
    : error.message
}

function signalled(): Promise<void> {
  return new Promise(resolve => {
    process.once('SIGTERM', () => resolve()).once('SIGINT', () => resolve())
  })
}

function exitNow(): void {
  process.exit(EXIT.failed)
}
