import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { runHook } from '../../../src/cli/hook/command.ts'
import { runStatusLine } from '../../../src/cli/statusline/command.ts'
import { CHALLENGE_HEADER, SERVICE_HEADER } from '../../../src/runtime/service-proof.ts'
import { captureCli } from '../../support/capture.ts'
import { startSmallService } from './harness.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-identity-'))
const file = join(folder, 'result.json')
writeFileSync(file, '{"secret":"in the content"}')
const KEY = 'hvs_secret'
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService()
})
afterAll(async () => {
  await service.close()
  rmSync(folder, { recursive: true })
})

interface Got {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

type Answer = (got: Got) => Promise<{ status?: number; headers?: object; body?: string }>

/** Another program at a port, and all that it was sent. */
async function program(answer: Answer) {
  const got: Got[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { url = '', headers } = request
    const one = { url, headers, body: Buffer.concat(chunks).toString() }
    got.push(one)
    const { status = 200, headers: own = {}, body = '{}' } = await answer(one)
    response.writeHead(status, own as IncomingHttpHeaders).end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  server.keepAliveTimeout = 1
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const told = () => got.map(({ url, headers, body }) => [url, headers['x-api-key'], body])
  return { url, told }
}

const ASKED_ONLY = [['/livez', undefined, '']]
const tool = { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {} }
const rows = JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, name: `name ${id}` })))
const output = { stdout: rows, stderr: '', isImage: false }
const event = () => Readable.from([Buffer.from(JSON.stringify({ ...tool, tool_response: output }))])
const session = () => Readable.from([Buffer.from('{"session_id":"s"}')])

describe('a command of a client', () => {
  it.each([[['savings']], [['arms']], [['get', '0123456789abcdef']], [['encode', file]]])(
    '%s says who else answers, and sends that nothing',
    async argv => {
      const other = await program(async () => ({ headers: { server: 'uvicorn' } }))
      const { code, stderr } = await captureCli(...argv, '--url', other.url, '--key', KEY)
      expect(code).toBe(1)
      expect(stderr).toMatch(/another program answers at \S+, no Haversack \(uvicorn\)/)
      expect(stderr).not.toContain('undefined')
      expect(other.told()).toEqual(ASKED_ONLY)
    },
  )

  it('follows no answer elsewhere with a key', async () => {
    const other = await program(async () => ({}))
    const first = await program(async ({ url }) =>
      url === '/livez'
        ? { headers: { [SERVICE_HEADER]: '1' } }
        : { status: 307, headers: { location: `${other.url}/v1/savings` } },
    )
    const { code, stderr } = await captureCli('savings', '--url', first.url, '--key', KEY)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`redirects to ${other.url}`)])
    expect(other.told()).toEqual([])
  })

  it('setup writes nothing if another program answers', async () => {
    const home = mkdtempSync(join(folder, 'home-'))
    vi.stubEnv('HOME', home)
    vi.stubEnv('CLAUDE_CONFIG_DIR', '')
    onTestFinished(() => void vi.unstubAllEnvs())
    const other = await program(async () => ({}))
    const { code, stderr } = await captureCli('setup', 'claude', '--yes', '--url', other.url)
    expect([code, stderr]).toEqual([1, expect.stringContaining('another program answers')])
    expect(readdirSync(home)).toEqual([])
    const none = await captureCli('setup', 'claude', '--yes', '--url', 'http://127.0.0.1:9')
    expect([none.code, none.stderr]).toEqual([0, expect.stringContaining('start it with')])
    const ours = await captureCli('setup', 'claude', '--undo')
    expect(ours.code).toBe(0)
    const written = await captureCli('setup', 'claude', '--yes', '--url', service.url)
    expect([written.code, written.stderr]).toEqual([0, expect.not.stringContaining('start it')])
  })
})

describe('a hook and a status line', () => {
  const asked = async (url: string) => [
    await runHook(event(), { url, key: KEY }).then(String, String),
    await runStatusLine(session(), { url, key: KEY }).then(String, String),
  ]

  it('talk to the service of the same user', async () => {
    const [hook, line] = await asked(service.url)
    expect(hook).toContain('updatedToolOutput')
    expect(line).toBe('null')
  })

  it('send nothing to a program that only says that it is one', async () => {
    const other = await program(async () => ({ headers: { [SERVICE_HEADER]: '1' } }))
    for (const said of await asked(other.url)) expect(said).toContain("is not this user's service")
    expect(other.told()).toEqual([...ASKED_ONLY, ...ASKED_ONLY])
  })

  it('send nothing to a program that has the service answer for it', async () => {
    const other = await program(async ({ url, headers }) => {
      const challenge = String(headers[CHALLENGE_HEADER])
      const answer = await fetch(service.url + url, { headers: { [CHALLENGE_HEADER]: challenge } })
      const own = [...answer.headers].filter(([name]) => name.startsWith('x-haversack'))
      expect(own).toHaveLength(2)
      return { headers: Object.fromEntries(own), body: await answer.text() }
    })
    for (const said of await asked(other.url)) expect(said).toContain("is not this user's service")
    expect(other.told()).toEqual([...ASKED_ONLY, ...ASKED_ONLY])
  })

  it('send nothing if the secret is another one', async () => {
    vi.stubEnv('XDG_DATA_HOME', mkdtempSync(join(folder, 'data-')))
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const said of await asked(service.url))
      expect(said).toContain("is not this user's service")
  })
})
