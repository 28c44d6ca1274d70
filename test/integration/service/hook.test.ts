import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runHook } from '../../../src/cli/hook/command.ts'
import { decode } from '../../../src/index.ts'
import { startSmallService } from './harness.ts'

let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  service = await startSmallService()
})

afterAll(() => service.close())

const rows = JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, name: `name ${id}` })))
const prose = Array.from({ length: 60 }, (_, i) => `the ${i * i}th line of ${i % 7};`).join('\n')

/** An event as Claude Code sends it. */
function eventOf(fields: Readonly<Record<string, unknown>>) {
  return {
    hook_event_name: 'PostToolUse',
    session_id: 's1',
    transcript_path: '/home/me/t.jsonl',
    cwd: '/home/me',
    tool_name: 'Bash',
    tool_input: { command: 'cat a.json' },
    tool_use_id: 'toolu_1',
    ...fields,
  }
}

const bash = (stdout: string) => ({ stdout, stderr: '', interrupted: false, isImage: false })

async function answer(event: object, options: { url?: string; deadlineMs?: number } = {}) {
  const input = Readable.from([Buffer.from(JSON.stringify(event))])
  const printed = await runHook(input, { url: service.url, key: undefined, ...options })
  return printed === null ? null : JSON.parse(printed).hookSpecificOutput
}

describe('the hook of Claude Code', () => {
  it('answers with the same result in fewer tokens, in the shape of the tool', async () => {
    const { hookEventName, updatedToolOutput } = await answer(
      eventOf({ tool_response: bash(rows) }),
    )
    expect(hookEventName).toBe('PostToolUse')
    const { stdout, ...rest } = updatedToolOutput
    expect(rest).toEqual({ stderr: '', interrupted: false, isImage: false })
    expect(stdout.length).toBeLessThan(rows.length / 2)
    expect(decode({ content: stdout, format: 'tree@2' }).content).toBe(rows)
  })

  it('says nothing of a result that stays, however often it comes', async () => {
    const event = eventOf({ tool_response: bash(prose) })
    for (let times = 0; times < 3; times++) expect(await answer(event)).toBeNull()
  })

  it('encodes each block of an answer with several', async () => {
    const blocks = [rows, 'short', rows].map(text => ({ type: 'text', text }))
    const { updatedToolOutput } = await answer(
      eventOf({ tool_name: 'mcp__a__b', tool_response: blocks }),
    )
    const [first, second, third] = updatedToolOutput
    expect([second, third]).toEqual([blocks[1], first])
    expect(decode({ content: first.text, format: 'tree@2' }).content).toBe(rows)
  })

  it('says nothing of what is no result', async () => {
    for (const other of [null, [], { a: 1 }, eventOf({ hook_event_name: 'Stop' })]) {
      expect(await answer(other as object)).toBeNull()
    }
    expect(await answer(eventOf({ tool_name: 3, tool_response: bash(rows) }))).toBeNull()
  })
})

describe('a hook that cannot answer', () => {
  it('ends in its time if the service says nothing', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    const event = eventOf({ tool_response: bash(rows) })
    await expect(answer(event, { url, deadlineMs: 20 })).rejects.toThrow()
    silent.closeAllConnections()
    silent.close()
  })

  it('ends in its time if its input does', async () => {
    const open = new Readable({ read() {} })
    const options = { url: service.url, key: undefined, deadlineMs: 20 }
    await expect(runHook(open, options)).rejects.toThrow('in time')
  })

  it.each([['{"a":'], [Buffer.from([0x22, 0xff, 0x22])]])('refuses %j', async bytes => {
    const options = { url: service.url, key: undefined }
    await expect(runHook(Readable.from([Buffer.from(bytes)]), options)).rejects.toThrow()
  })
})
