import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadConfig } from '../../src/config/load.ts'
import { type Service, startService } from '../../src/service/service.ts'

const DEMO = fileURLToPath(new URL('../../demo/run.ts', import.meta.url))

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

function runDemo(...args: string[]): Promise<Ended> {
  return new Promise(resolve => {
    execFile(process.execPath, [DEMO, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr })
    })
  })
}

/** The figures of a line of the totals: results, tokens in, tokens out. */
function totals(stdout: string, label: string): number[] {
  const line = stdout.split('\n').find(text => new RegExp(`^${label} +\\d`).test(text)) ?? ''
  const cells = line.slice(label.length).trim().split(/ {2,}/)
  return cells.slice(0, 3).map(cell => Number(cell.replaceAll(',', '')))
}

type Lie = (content: string) => string

/** A service in between that passes everything on, and decoded contents through `lie`. */
function startLiar(target: string, lie: Lie): Promise<Server> {
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '/' } = request
    const body = method === 'POST' ? { body: await text(request) } : {}
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(new URL(url, target), { method, headers, ...body })
    const received = await answer.text()
    const { 'content-length': _, ...own } = Object.fromEntries(answer.headers)
    response.writeHead(answer.status, own)
    response.end(url === '/v1/decode' ? retell(received, lie) : received)
  })
  return new Promise(resolve => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}

function retell(answer: string, lie: Lie): string {
  const { content, ...rest } = JSON.parse(answer)
  return JSON.stringify({ content: lie(content), ...rest })
}

/** Another last digit for the first number of nanoseconds, one that a double cannot tell apart. */
const nextNanosecond: Lie = content =>
  content.replace(/("mtime_ns":\d+)(\d)/, (_, start, digit) => start + ((Number(digit) + 1) % 10))

const otherHeading: Lie = content => content.replace(/^# Sizes/, '# sizes')

describe('npm run demo', () => {
  it('plays results of both kinds, and every one comes back', async () => {
    const { code, stdout, stderr } = await runDemo()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [results = 0, before = 0, after = 0] = totals(stdout, 'all')
    const [encoded = 0, encodedBefore = 0, encodedAfter = 0] = totals(stdout, 'encoded')
    const [passed = 0, passedBefore = 0, passedAfter = 0] = totals(stdout, 'passed through')
    expect(encoded + passed).toBe(results)
    expect(encodedBefore + passedBefore).toBe(before)
    expect(encodedAfter + passedAfter).toBe(after)
    expect(results).toBeGreaterThanOrEqual(18)
    expect(encodedAfter).toBeLessThan(0.9 * encodedBefore)
    expect(passedAfter).toBe(passedBefore)
    expect(stdout).toContain('Tokens in o200k_base; the baseline is each tool result as it came.')
    expect(stdout).toContain(`Every one of ${results} answers decoded to what went in.`)
  })
})

describe('npm run demo -- --url', () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-demo-test-'))
  let service: Service

  beforeAll(async () => {
    const overrides = { port: 0, data_dir: folder, workers: { count: 1 } }
    service = await startService(loadConfig({ env: {}, overrides }))
  })
  afterAll(async () => {
    await service.close()
    rmSync(folder, { recursive: true, force: true })
  })

  async function againstLiar(lie: Lie): Promise<Ended> {
    const liar = await startLiar(service.url, lie)
    try {
      return await runDemo('--url', `http://127.0.0.1:${(liar.address() as AddressInfo).port}`)
    } finally {
      liar.close()
      await once(liar, 'close')
    }
  }

  it('passes against an honest service', async () => {
    const { code, stdout } = await againstLiar(content => content)
    expect({ code, differs: stdout.includes('DIFFERS') }).toEqual({ code: 0, differs: false })
  })

  it('fails over one digit of an encoded result', async () => {
    const { code, stdout } = await againstLiar(nextNanosecond)
    expect(code).toBe(1)
    expect(stdout.match(/DIFFERS/g)).toHaveLength(1)
    expect(stdout).toMatch(/stat_files .* DIFFERS/)
  })

  it('fails over one letter of a text', async () => {
    const { code, stdout } = await againstLiar(otherHeading)
    expect(code).toBe(1)
    expect(stdout).toMatch(/report .* DIFFERS/)
    expect(stdout).toMatch(/^1 of \d+ answers did not decode to what went in\.$/m)
  })

  it('fails where no service answers', async () => {
    const { code, stderr } = await runDemo('--url', 'http://127.0.0.1:1')
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'demo: fetch failed\n' })
  })
})
