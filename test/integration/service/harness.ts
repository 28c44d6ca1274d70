import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../src/config/load.ts'
import { type Service, type ServiceSeams, startService } from '../../../src/service.ts'

/** A real service on a free port, with real threads. */
export async function startTestService(
  toml: Record<string, unknown> & { limits?: object } = {},
  seams: ServiceSeams = {},
): Promise<Service & { post: Post }> {
  const { limits = {}, ...rest } = toml
  const folder = mkdtempSync(join(tmpdir(), 'haversack-service-'))
  const config = loadConfig({
    env: {},
    // No load balancer has to notice the end of a test.
    overrides: {
      port: 0,
      data_dir: folder,
      log: { level: 'silent' },
      limits: { drain_grace_ms: 0, ...limits },
      ...rest,
    },
  })
  const service = await startService(config, seams)
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
