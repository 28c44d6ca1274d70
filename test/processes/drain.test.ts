import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { countRequest, dial, exchange } from '../support/raw-http.ts'
import { killProcesses, type ServiceProcess, startProcess } from '../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-drain-'))
afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true }))

/** The environment of a service with these limits. */
function limits(values: Readonly<Record<string, number>>) {
  const file = join(folder, `${Object.values(values).join('-')}.toml`)
  const lines = Object.entries(values).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(file, `[log]\nlevel = "error"\n[limits]\n${lines.join('\n')}\n`)
  return { HAVERSACK_CONFIG: file }
}

const post = (url: string, content: string) =>
  fetch(`${url}/v1/encode`, {
    method: 'POST',
    body: JSON.stringify({ content }),
    headers: { 'content-type': 'application/json' },
  })

/** Long enough that a signal finds it in the middle of its work. */
const LARGE = JSON.stringify(
  Array.from({ length: 60_000 }, (_, id) => ({ id, name: `name ${id}`, ok: id % 2 === 0 })),
)

async function readiness({ url }: ServiceProcess): Promise<string> {
  const { status } = await fetch(`${url}/readyz`)
  return `${status}`
}

/** Waits for the state that load balancers see. */
const draining = (service: ServiceProcess) =>
  eventually(async () => expect(await readiness(service)).toBe('503'))

describe('SIGTERM', () => {
  it('ends readiness at once, takes work all the same, and loses nothing that was sent', async () => {
    // Long: its end comes with the last answer, not with this time.
    const service = await startProcess({ env: limits({ drain_grace_ms: 1_500 }) })
    let stop = false
    const sent: Promise<Response>[] = []
    const statuses: number[] = []
    const client = async () => {
      while (!stop) {
        const request = post(service.url, `[{"a":1},{"a":2},{"n":${sent.length}}]`)
        sent.push(request)
        const response = await request
        await response.arrayBuffer()
        statuses.push(response.status)
      }
    }
    const clients = Array.from({ length: 8 }, client)
    await eventually(() => expect(statuses.length).toBeGreaterThan(200))
    service.child.kill('SIGTERM')
    await draining(service)
    // What comes in the grace is served, on connections that are told to end.
    const late = await post(service.url, 'late')
    expect([late.status, late.headers.get('connection')]).toEqual([200, 'close'])
    expect((await fetch(`${service.url}/livez`)).status).toBe(200)
    // The load balancer has noticed.
    stop = true
    await Promise.all(clients)
    expect(statuses).toHaveLength(sent.length)
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect(await service.exited).toBe(0)
    await expect(fetch(`${service.url}/livez`)).rejects.toThrow()
  })

  it('lets work end that is under way, on connections that are open', async () => {
    const env = limits({ drain_grace_ms: 0, drain_timeout_ms: 60_000, job_timeout_ms: 60_000 })
    const service = await startProcess({ env })
    const answer = post(service.url, LARGE)
    await eventually(async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      expect(text).toContain('haversack_admitted_jobs 1\n')
    })
    service.child.kill('SIGTERM')
    expect((await answer).status).toBe(200)
    expect(await (await answer).json()).toMatchObject({ lossless: true })
    expect(await service.exited).toBe(0)
  })

  it('does not wait longer than told for a client that sends no end', async () => {
    const env = limits({ drain_grace_ms: 0, drain_timeout_ms: 300 })
    const service = await startProcess({ env })
    const sockets = ['GET /livez HT', countRequest('a b').slice(0, -3)].map(bytes => {
      const socket = dial(service.url)
      socket.on('error', () => {})
      socket.write(bytes)
      return socket
    })
    await eventually(async () => {
      const text = await (await fetch(`${service.url}/metrics`)).text()
      expect(text).toContain('haversack_admitted_jobs 1\n')
    })
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
    for (const socket of sockets) socket.destroy()
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('and %s end it at once with 1', async second => {
    const service = await startProcess({ env: limits({ drain_grace_ms: 600_000 }) })
    service.child.kill('SIGTERM')
    await draining(service)
    expect((await exchange(service.url, countRequest('a b'))).answers[0]?.status).toBe(200)
    service.child.kill(second)
    expect(await service.exited).toBe(1)
  })
})
