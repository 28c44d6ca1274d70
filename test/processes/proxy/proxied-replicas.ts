import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../../integration/service/recording-upstream.ts'
import { type RedisProcess, startRedis } from '../../support/redis-server.ts'
import {
  killProcesses,
  PROCESS_SETTINGS,
  type ServiceProcess,
  startProcess,
} from '../../support/service-process.ts'

/** Services on one Redis, in front of one vendor. */
export interface ProxiedReplicas {
  readonly redis: RedisProcess
  readonly services: readonly ServiceProcess[]
  /** What the vendor gets of an Anthropic request through a service. */
  sendThrough(at: number, body: string): Promise<string>
  close(): Promise<void>
}

/** Enough for a busy machine: a call that takes longer would make a turn go on alone. */
const STORE = '[store.redis]\ncall_timeout_ms = 10_000\n'

/**
 * @param pipelines the text of each service's `pipeline_config.toml`
 * @param env of all services, besides
 */
export async function startReplicas(
  pipelines: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<ProxiedReplicas> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-replicas-'))
  const redis = await startRedis()
  const upstream: RecordingUpstream = await recordingUpstream()
  const config = join(folder, 'config.toml')
  writeFileSync(config, `${readFileSync(PROCESS_SETTINGS, 'utf8')}\n${STORE}`)
  const starting = pipelines.map((text, at) => {
    const pipeline = join(folder, `pipeline-${at}.toml`)
    writeFileSync(pipeline, text)
    return startProcess({
      env: {
        HAVERSACK_REDIS_URL: redis.url,
        HAVERSACK_CONFIG: config,
        HAVERSACK_ANTHROPIC_URL: upstream.url,
        HAVERSACK_PIPELINE_CONFIG: pipeline,
        ...env,
      },
    })
  })
  const services = await Promise.all(starting)
  let sent = 0
  return {
    redis,
    services,
    async sendThrough(at, body) {
      const id = `${sent++}`
      const response = await fetch(`${services[at]!.url}/anthropic/v1/messages?${id}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      await response.text()
      return upstream.requests.find(({ line }) => line.endsWith(`?${id}`))!.body.toString()
    },
    async close() {
      killProcesses()
      await Promise.all(services.map(({ exited }) => exited))
      await upstream.close()
      await redis.stop()
      rmSync(folder, { recursive: true })
    },
  }
}
