import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FIXED_LIMITS } from '../../../src/config/fixed-limits.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { BUILDERS } from '../../../src/service/builders.ts'
import { type Service, type ServiceSeams, startService } from '../../../src/service/service.ts'
import { bundledWorker, useBundledWorkers } from '../../support/bundled-worker.ts'
import { NO_THREAD } from '../../support/small-service.ts'
import { vocabularies } from '../../support/vocabularies.ts'

const WORKER = new URL('../../../workers/tasks.ts', import.meta.url)

useBundledWorkers()

/** Limits that no test runs into unless it sets them, however busy the machine is. */
const PATIENT = {
  limits: {
    drain_grace_ms: 0, // no load balancer has to notice the end of a test
    job_timeout_ms: 600_000,
    max_queue_wait_ms: 600_000,
  },
  proxy: { rewrite_timeout_ms: 600_000 },
} as const

/** The same of those that no setting changes. */
const PATIENT_FIXED = {
  headerMs: 600_000,
  requestMs: 600_000,
  forward: { ...FIXED_LIMITS.forward, connect_ms: 600_000 },
} as const

/** Without the thread that is kept for short jobs: a third of a start. */
const ONE_THREAD: ServiceSeams['builders'] = {
  startConfiguredThreads: (config, options) =>
    BUILDERS.startConfiguredThreads(
      { ...config, workers: { ...config.workers, count: 0 } },
      options,
    ),
}

/** For a small service whose store is locked meanwhile, which must not block the test's thread. */
export const STORE_THREAD: ServiceSeams = {
  builders: { openServiceStore: BUILDERS.openServiceStore },
}

/**
 * The same with all jobs and the store in this thread, for tests that are about neither threads nor
 * what these share. It has one worker thread if the test brings the module of that.
 */
export const startSmallService: typeof startTestService = (toml, seams) => {
  const builders = { ...NO_THREAD, ...(seams?.workerUrl === undefined ? {} : ONE_THREAD) }
  return startTestService(toml, { ...seams, builders: { ...builders, ...seams?.builders } })
}

/** A real service on a free port, with one real worker. */
export async function startTestService(
  toml: Record<string, unknown> & {
    limits?: object
    proxy?: object
    pipeline_config_file?: string
  } = {},
  seams: ServiceSeams = {},
): Promise<Service & { post: Post }> {
  const { limits = {}, proxy = {}, pipeline_config_file, ...rest } = toml
  const folder = mkdtempSync(join(tmpdir(), 'haversack-service-'))
  const config = loadConfig({
    env: { HAVERSACK_PIPELINE_CONFIG: pipeline_config_file },
    overrides: {
      port: 0,
      data_dir: folder,
      log: { level: 'silent' },
      workers: { count: 1 },
      limits: { ...PATIENT.limits, ...limits },
      proxy: { ...PATIENT.proxy, ...proxy },
      ...rest,
    },
  })
  const service = await startService(config, {
    vocabularies,
    ...seams,
    limits: { ...PATIENT_FIXED, ...seams.limits },
    workerUrl: bundledWorker(seams.workerUrl ?? WORKER),
  })
  const post: Post = (path, body, headers = {}) =>
    fetch(service.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  return {
    ...service,
    post,
    async close() {
      await service.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

export type Post = (
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers?: Record<string, string>,
) => Promise<Response>

/** The parsed body of a JSON answer. */
export async function json(
  response: Response | Promise<Response>,
): Promise<Record<string, unknown>> {
  return (await (await response).json()) as Record<string, unknown>
}
