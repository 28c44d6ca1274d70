import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startOwnService } from '../../../src/cli/run/own-service.ts'
import { createLogger } from '../../../src/observability/logger.ts'
import { ANY_SAVING_FILE, ELIDING_PROXIES_FILE } from '../../support/any-saving.ts'
import { someOf } from '../../support/short-runs.ts'
import { startSmallService } from './harness.ts'
import { type RecordingUpstream, recordingUpstream } from './recording-upstream.ts'

type TestService = Awaited<ReturnType<typeof startSmallService>>

let upstream: RecordingUpstream
let service: TestService

beforeAll(async () => {
  upstream = await recordingUpstream()
  service = await startSmallService({
    workers: { count: 1 },
    pipeline_config_file: ELIDING_PROXIES_FILE,
    proxy: { anthropic_url: upstream.url },
  })
})

afterAll(async () => {
  await service.close()
  await upstream.close()
})

/** A log in which one line matters. */
const logOf = (seed: number) =>
  Array.from({ length: 400 }, (_, i) => {
    const failed = i === 123 ? 'ERROR the disk of node-7 is full' : 'step done'
    return `2026-11-22T10:${String(i % 60).padStart(2, '0')}:00Z worker-${seed} ${failed} after ${(i * seed * 37) % 991} ms`
  }).join('\n')

interface Step {
  readonly tool?: string
  readonly text: string
  readonly isError?: boolean
}

function bodyOf(steps: readonly Step[], tools: readonly string[]): string {
  const messages = steps.flatMap(({ tool = 'Bash', text, isError = false }, i) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `t${i}`, name: tool, input: { i } }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `t${i}`, content: text, is_error: isError }],
    },
  ])
  return JSON.stringify({
    model: 'claude-sonnet-4-5',
    tools: tools.map(name => ({ name, input_schema: { type: 'object' } })),
    messages: [{ role: 'user', content: 'Why did it fail?' }, ...messages],
  })
}

/** The texts of the results as the upstream gets them. */
async function sent(
  steps: readonly Step[],
  tools: readonly string[],
  { url } = service as Pick<TestService, 'url'>,
): Promise<string[]> {
  const response = await fetch(`${url}/anthropic/v1/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyOf(steps, tools),
  })
  expect(await response.text()).toBe('{"ok": true}')
  const { messages } = JSON.parse(upstream.last().body.toString())
  return messages.flatMap((message: { role: string; content: { content?: string }[] }) =>
    typeof message.content === 'string' ? [] : message.content.flatMap(each => each.content ?? []),
  )
}

const RETRIEVING = ['Bash', 'mcp__memory__haversack_retrieve']
const hashIn = (text: string) => /\| hash=([0-9a-f]{24})\]$/.exec(text)?.[1]

describe('a request whose tools fetch originals', () => {
  it('has markers for the bulk, which give the very text back', async () => {
    const [text = ''] = await sent([{ text: logOf(1) }], RETRIEVING)
    expect(text.length).toBeLessThan(logOf(1).length / 2)
    expect(text).toContain('the disk of node-7 is full')
    const answer = await fetch(`${service.url}/v1/retrieve/${hashIn(text)}`)
    expect(await answer.json()).toMatchObject({ original_content: logOf(1) })
  })

  it('begins in the next turn as it did before', async () => {
    const first = await sent([{ text: logOf(2) }], RETRIEVING)
    const second = await sent([{ text: logOf(2) }, { text: logOf(3) }], RETRIEVING)
    expect(second[0]).toBe(first[0])
    expect(hashIn(second[0]!)).not.toBe(hashIn(second[1]!))
    expect(hashIn(second[1]!)).toBeDefined()
  })

  it('has what was fetched as it came, in every later turn', async () => {
    const fetched = { tool: RETRIEVING[1]!, text: logOf(4) }
    const steps = [{ text: logOf(4) }, fetched]
    expect((await sent(steps, RETRIEVING))[1]).toBe(logOf(4))
    expect((await sent([...steps, { text: logOf(5) }], RETRIEVING))[1]).toBe(logOf(4))
  })

  it('has errors without a gap', async () => {
    const [text] = await sent([{ text: logOf(6), isError: true }], RETRIEVING)
    expect(text).not.toContain('hash=')
    expect(text?.split('\n').length).toBeGreaterThan(300)
  })
})

it('leaves nothing out of a request without such a tool', async () => {
  await sent([{ text: logOf(7) }], RETRIEVING)
  const [text] = await sent([{ text: logOf(7) }], ['Bash'])
  expect(text).not.toContain('hash=')
})

it('leaves nothing out by itself unless the configuration says so', async () => {
  const whole = await startSmallService({
    workers: { count: 1 },
    pipeline_config_file: ANY_SAVING_FILE,
    proxy: { anthropic_url: upstream.url, redeem: 'auto' },
  })
  try {
    for (const tools of [RETRIEVING, ['Bash']]) {
      await sent([], tools, whole)
      const [text] = await sent([{ text: logOf(11) }], tools, whole)
      expect(text).not.toContain('hash=')
      expect(text!.split('\n').length).toBeGreaterThan(300)
    }
  } finally {
    await whole.close()
  }
})

describe('haversack run', () => {
  const FOREIGN = 'mcp__haversack__haversack_retrieve'

  const ASKED: readonly [string, readonly string[], { elides?: boolean }, boolean][] = [
    [
      'leaves parts out where it is asked to, since it answers calls',
      ['Bash'],
      { elides: true },
      true,
    ],
    ['keeps new results whole by default', ['Bash'], {}, false],
    ["leaves nothing out for another gateway's tool", ['Bash', FOREIGN], { elides: true }, false],
    ['leaves nothing out if it is asked to', ['Bash'], { elides: false }, false],
  ]

  it.each(someOf(ASKED, 1))('%s', async (_, tools, elides, isElided) => {
    const folder = mkdtempSync(join(tmpdir(), 'haversack-own-service-'))
    const config = join(folder, 'patient.toml')
    writeFileSync(config, '[proxy]\nrewrite_timeout_ms = 600_000\n')
    const own = await startOwnService({
      env: {
        HAVERSACK_ANTHROPIC_URL: upstream.url,
        HAVERSACK_CONFIG: config,
        HAVERSACK_PIPELINE_CONFIG: ANY_SAVING_FILE,
      },
      ...{
        folder,
        hasLedger: false,
        keepsTexts: false,
        program: 'agent',
        isTemporary: true,
        ...elides,
        logger: () => createLogger('silent'),
      },
    })
    try {
      // A conversation gets the proxy's tool with its first request.
      await sent([], tools, own)
      expect(own.elides).toBe(!('elides' in elides && !elides.elides))
      const [text = ''] = await sent([{ text: logOf(9) }], tools, own)
      expect(hashIn(text) !== undefined).toBe(isElided)
      const fetched = { tool: FOREIGN, text: logOf(10) }
      expect((await sent([{ text: logOf(9) }, fetched], tools, own))[1]).toBe(logOf(10))
    } finally {
      await own.close()
      rmSync(folder, { recursive: true })
    }
  })
})

it('leaves nothing out while nothing can be kept', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-no-store-'))
  const file = join(folder, 'not-a-folder')
  writeFileSync(file, '')
  const storeless = await startSmallService({
    workers: { count: 1 },
    proxy: { anthropic_url: upstream.url },
    data_dir: join(file, 'data'),
  })
  try {
    const [text] = await sent([{ text: logOf(8) }], RETRIEVING, storeless)
    expect(text).not.toContain('hash=')
    expect(text!.length).toBeLessThan(logOf(8).length)
    expect((await sent([{ text: logOf(8) }, { text: 'ok' }], RETRIEVING, storeless))[0]).toBe(text)
    const metrics = await (await fetch(`${storeless.url}/metrics`)).text()
    expect(metrics).toMatch(/haversack_proxy_unrecorded_total\{vendor="anthropic"\} [1-9]/)
    expect(metrics).not.toMatch(/haversack_proxy_prefix_changes_total\{vendor="anthropic"\} [1-9]/)
  } finally {
    await storeless.close()
    rmSync(folder, { recursive: true })
  }
})
