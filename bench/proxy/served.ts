import { startServer } from '../support/processes.ts'

/** The service, and the stand-in of a vendor behind it, each in a process of its own. */
export interface Servers {
  readonly upstream: string
  readonly service: string
  /** Of the service. */
  readonly pid: number
  stop(): Promise<void>
}

export async function startServers(): Promise<Servers> {
  const vendor = await startServer('proxy/upstream-server.ts')
  const upstream = `http://127.0.0.1:${vendor.port}`
  const service = await startServer('../src/main.ts', {
    HAVERSACK_PORT: '0',
    HAVERSACK_LOG_LEVEL: 'warn',
    HAVERSACK_ANTHROPIC_URL: upstream,
  })
  return {
    upstream,
    service: `http://127.0.0.1:${service.port}`,
    pid: service.pid,
    async stop() {
      await service.stop()
      await vendor.stop()
    },
  }
}
