import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { loadConfig } from '../../../src/config/load.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { BUILDERS, type Builders } from '../../../src/service/builders.ts'
import { startService } from '../../../src/service/service.ts'
import { watchLeftOpen } from '../../integration/service/left-open.ts'
import { eventually } from '../../support/eventually.ts'
import { keyFor, writeKeysFile } from '../../support/keys.ts'
import { FULL_RUNS, SEED } from '../../support/runs.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-start-'))
const keysFile = join(folder, 'keys.json')
const logger = createLogger('silent', { write: () => {} })

beforeAll(() => void vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9'))
afterAll(() => void vi.unstubAllEnvs())

/** With everything on that has a thread, a timer or a socket. */
const configWith = (port = 0) =>
  loadConfig({
    env: {},
    overrides: {
      port,
      data_dir: folder,
      keys_file: keysFile,
      workers: { count: 1 },
      limits: { drain_grace_ms: 0 },
      proxy: { anthropic_url: 'http://127.0.0.1:9', openai_url: 'http://127.0.0.1:9' },
      telemetry: { sample_rate: 1 },
      fingerprints: { publish: ['*'] },
    },
  })

const workerUrl = new URL('../../integration/service/worker-that-idles.ts', import.meta.url)

/** Without a job for its threads. */
const start = (builders: Partial<Builders> = {}, port?: number) =>
  startService(configWith(port), {
    logger,
    workerUrl,
    builders: { warmUp: async () => {}, ...builders },
  })

/** Runs `work`, and waits until nothing of it is left. */
async function leavesNothing(work: () => Promise<unknown>): Promise<void> {
  using leftOpen = watchLeftOpen()
  await work()
  leftOpen.stop()
  await eventually(() => expect(leftOpen.list()).toEqual([]))
}

const all = Object.keys(BUILDERS) as (keyof Builders)[]
/** A short run looks at every fourth, other ones each time. */
const names = all.filter((_, index) => FULL_RUNS || index % 4 === SEED % 4)
const fail = (): never => {
  throw new Error('planted')
}

beforeAll(async () => {
  writeKeysFile(keysFile, keyFor('acme'))
  // What is loaded once and stays.
  await (await start()).close()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the service leaves no thread, timer, socket or file descriptor', () => {
  it('once it is closed', () =>
    leavesNothing(async () => (await startService(configWith(), { logger })).close()))

  it.each(names)('if %s fails', name =>
    leavesNothing(() => expect(start({ [name]: fail })).rejects.toThrow('planted')),
  )

  it('if its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await new Promise(resolve => other.once('listening', resolve))
    const { port } = other.address() as AddressInfo
    await leavesNothing(() => expect(start({}, port)).rejects.toThrow('EADDRINUSE'))
    await new Promise(resolve => other.close(resolve))
  })

  it('if one of its parts cannot be closed', () =>
    leavesNothing(async () => {
      const service = await start({
        createSavings(options) {
          const savings = BUILDERS.createSavings(options)
          return {
            ...savings,
            async close() {
              await savings.close()
              fail()
            },
          }
        },
      })
      await expect(service.close()).rejects.toThrow('planted')
    }))
})

describe('closing', () => {
  it('is done once, and each caller waits for it', async () => {
    const service = await start()
    let isClosed = false
    const first = service.close().then(() => {
      isClosed = true
    })
    await service.close()
    await first
    expect(isClosed).toBe(true)
    await expect(fetch(service.url)).rejects.toThrow()
  })
})
