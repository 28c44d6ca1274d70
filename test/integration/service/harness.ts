import { loadConfig } from '../../../src/config/load.ts'
import { type Service, type ServiceSeams, startService } from '../../../src/service.ts'

/** A real service on a free port, with real threads. */
export async function startTestService(
  toml: Record<string, unknown> = {},
  seams: ServiceSeams = {},
): Promise<Service & { post: Post }> {
  const config = loadConfig({ env: {}, overrides: { port: 0, log: { level: 'silent' }, ...toml } })
  const service = await startService(config, seams)
  const post: Post = (path, body, headers = {}) =>
    fetch(service.url + path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    })
  return { ...service, post }
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
