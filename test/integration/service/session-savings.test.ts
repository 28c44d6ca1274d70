import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { runHook } from '../../../src/cli/hook/command.ts'
import { runStatusLine } from '../../../src/cli/statusline/command.ts'
import type { SavingsAnswer } from '../../../src/core/contract/savings.ts'
import { LEGEND } from '../../../src/core/reading/legend.ts'
import { captureCli } from '../../support/capture.ts'
import { startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

const rows = JSON.stringify(
  Array.from({ length: 60 }, (_, id) => ({ id, name: `name ${id}`, open: true })),
)

let upstream: RecordingUpstream
let service: Awaited<ReturnType<typeof startSmallService>>

/** One request of Claude Code, with a result in it. */
async function send(session: string | undefined, opening: string) {
  const messages = [
    { role: 'user', content: opening },
    { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'query', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: rows }] },
  ]
  const named = session === undefined ? {} : { 'x-claude-code-session-id': session }
  const response = await fetch(`${service.url}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'k', ...named },
    body: JSON.stringify({ model: 'claude-x', max_tokens: 9, messages }),
  })
  await response.text()
}

async function savings(query: string): Promise<SavingsAnswer> {
  const answer = await fetch(`${service.url}/v1/savings?${query}`)
  return (await answer.json()) as SavingsAnswer
}

function lineOf(event: unknown, url = service.url) {
  const input = Readable.from([Buffer.from(JSON.stringify(event))])
  return runStatusLine(input, { url, key: undefined })
}

beforeAll(async () => {
  upstream = await recordingUpstream()
  upstream.answerWith(response => {
    const usage = { input_tokens: 500, output_tokens: 1 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ type: 'message', model: 'claude-x', content: [], usage }))
  })
  service = await startSmallService({ proxy: { anthropic_url: upstream.url } })
  await send('session-1', 'one')
  await send('session-1', 'another part of one')
  // The same words in another session.
  await send('session-2', 'one')
  await send(undefined, 'none')
  await send('x'.repeat(200), 'no name for a session')
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

describe('the savings of a session', () => {
  it('are the sum of its conversations, and of no other', async () => {
    const one = await savings('session=session-1')
    expect(one.session).toMatchObject({ session: 'session-1', requests: 2 })
    expect(one.conversations.map(({ session }) => session)).toEqual(['session-1', 'session-1'])
    const { session, conversations } = await savings('session=session-2')
    expect(conversations.map(({ figures }) => figures)).toEqual([session?.figures])
    const all = await savings('')
    expect(all.session).toBeUndefined()
    expect(all.conversations).toHaveLength(5)
    expect(all.conversations.filter(each => each.session === undefined)).toHaveLength(2)
    expect((await savings('session=unknown')).session).toMatchObject({ requests: 0 })
  })

  it('are not asked for by what is no name', async () => {
    expect(await savings('session=%0d%0a')).toMatchObject({ code: 'invalid_request' })
  })

  it('are a line for the status line', async () => {
    const line = await lineOf({ session_id: 'session-1', cwd: '/home/me' })
    expect(line).toMatch(/^Haversack: results −\d\d\.\d % \([\d,]+ tokens\), billed −\d\d\.\d %$/)
    expect(await lineOf({ session_id: 'unknown' })).toBeNull()
    await expect(lineOf({})).rejects.toThrow('no session')
    await expect(lineOf({ session_id: 'a b' })).rejects.toThrow('status 400')
    await expect(lineOf({ session_id: 'a' }, 'http://127.0.0.1:9')).rejects.toThrow()
  })

  it('are printed by a command', async () => {
    const at = ['--url', service.url]
    const { stdout } = await captureCli('savings', '--session', 'session-1', ...at)
    expect(stdout).toMatch(/^results: .*\nrequests: .* in 2 model requests\nbilled: .*\n$/)
    expect((await captureCli('savings', '--session', 'none', ...at)).stdout).toBe(
      'No model request of this session has passed through the proxies.\n',
    )
    const all = await captureCli('savings', ...at)
    expect(all.stdout).toContain('in 5 model requests')
    const { vendors } = JSON.parse((await captureCli('savings', '--json', ...at)).stdout)
    expect(vendors.anthropic.requests).toBe(5)
  })
})

describe('the hook at the start of a session', () => {
  const start = () => Readable.from([Buffer.from('{"hook_event_name":"SessionStart"}')])

  it('tells the model how results are to be read', async () => {
    const printed = await runHook(start(), { url: service.url, key: undefined })
    expect(JSON.parse(printed ?? '{}')).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: LEGEND },
    })
  })

  it('tells it nothing if the configuration leaves that out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-legend-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, 'pipeline_config.toml')
    writeFileSync(file, '[hints]\nenabled = false\n')
    const silent = await startSmallService({ pipeline_config_file: file })
    onTestFinished(() => silent.close())
    expect(await runHook(start(), { url: silent.url, key: undefined })).toBeNull()
  })

  it('tells the user that none does', async () => {
    const printed = await runHook(start(), { url: 'http://127.0.0.1:9', key: undefined })
    const { systemMessage } = JSON.parse(printed ?? '{}')
    expect(systemMessage).toContain('no service answers at http://127.0.0.1:9')
  })
})
