import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { KeysFileError } from '../access/keys-file.ts'
import type { Config } from '../config/config.ts'
import { type Env, processEnv } from '../config/env.ts'
import { type LoadOptions, loadConfig } from '../config/load.ts'
import { ConfigError } from '../config/read-toml.ts'
import { userDataFolder } from '../config/user-folders.ts'
import { makeFolder } from '../files/make-folder.ts'
import { EXIT } from '../runtime/exit-codes.ts'
import { reasonOf } from '../runtime/system-reason.ts'
import { watchUncaught } from '../runtime/uncaught.ts'
import { watchConfiguration } from './configuration/watch-files.ts'
import { type Service, startService } from './service.ts'

/**
 * How much longer than its own limits draining may take after an uncaught error, in milliseconds.
 */
const CLOSE_MS = 5_000

/**
 * Runs the service until SIGTERM or SIGINT, then drains it; a second signal exits at once. SIGHUP
 * reads keys and configuration again. An error that nothing caught is logged, and drains the
 * service too, with exit code 1. Prints its address when ready, and that of the page. Resolves to
 * the exit code.
 */
export async function runService(options: Omit<LoadOptions, 'env'>): Promise<number> {
  let service: Service | undefined
  const uncaught = watchUncaught(error => {
    if (service !== undefined) return service.noteUncaught(error)
    process.stderr.write(`haversack: ${reasonOf(error)}\n`)
    exitNow()
  })
  try {
    const load = () => loadConfig({ ...options, env: processEnv() })
    const stopped = signalled()
    // The handler is set from the start. Until there is a service, a signal needs no action: the
    // service will read new files anyway.
    const reload = () => service?.reload(load)
    process.on('SIGHUP', reload)
    const config = load()
    const earlier = earlierData(config, processEnv())
    if (earlier !== null) process.stderr.write(`haversack: ${earlier}\n`)
    checkDataFolder(config)
    service = await startService(config)
    letHeapsDouble()
    if (config.watch)
      watchConfiguration(config, options.file ?? processEnv()['HAVERSACK_CONFIG'], reload)
    process.stdout.write(`haversack listens on ${service.url}\n`)
    if (service.hasPage) process.stdout.write(`what it saves: ${service.url}/ui\n`)
    await Promise.race([stopped, uncaught.first])
    process.once('SIGTERM', exitNow).once('SIGINT', exitNow)
    const { drain_grace_ms, drain_timeout_ms } = config.limits
    // After an uncaught error, parts that would end by themselves may not end.
    void uncaught.first.then(() => {
      setTimeout(exitNow, drain_grace_ms + drain_timeout_ms + CLOSE_MS).unref()
    })
    await service.close()
    return uncaught.count === 0 ? EXIT.ok : EXIT.failed
  } catch (error) {
    process.stderr.write(`haversack: ${reasonOf(error)}\n`)
    const isUsage = error instanceof ConfigError || error instanceof KeysFileError
    return isUsage ? EXIT.usage : EXIT.failed
  }
}

/** Codes of a path that no folder can be at; a disk may be away for a while. */
const NO_FOLDER = new Set(['ENOENT', 'EEXIST', 'ENOTDIR', 'ELOOP'])

/** @throws ConfigError for a data folder that cannot be one */
function checkDataFolder({ data_dir }: Pick<Config, 'data_dir'>): void {
  try {
    makeFolder(data_dir)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!NO_FOLDER.has(code)) return
    throw new ConfigError([`data_dir (HAVERSACK_DATA_DIR): ${data_dir} can be no folder (${code})`])
  }
}

/** Versions before kept data in the working folder if nothing named another one. */
function earlierData({ data_dir }: Pick<Config, 'data_dir'>, env: Env): string | null {
  const before = resolve('.haversack')
  if (data_dir !== userDataFolder(env) || !existsSync(join(before, 'store.sqlite'))) return null
  return `data is in ${data_dir}, no more in ${before}: HAVERSACK_DATA_DIR names another folder`
}

function signalled(): Promise<void> {
  return new Promise(resolve => {
    process.once('SIGTERM', () => resolve()).once('SIGINT', () => resolve())
  })
}

function exitNow(): void {
  process.exit(EXIT.failed)
}

/** How much a heap may grow before all of it is collected again, in percent of what it holds. */
const GROWTH_PERCENT = 100

/**
 * Lets the heaps of this process double between two collections. A service allocates few objects
 * and many buffers, of each body once. V8 counts the buffers too, but derives the growth from the
 * few objects. With large bodies it would mark the whole heap every few requests.
 */
function letHeapsDouble(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
