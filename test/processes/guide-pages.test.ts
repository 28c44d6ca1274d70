import { execFile } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../integration/service/recording-upstream.ts'
import { freePort } from './free-port.ts'
import { answerByScript } from './scripted-model.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Pages whose commands are run as they are, in a folder of their own. */
const PAGES = ['sceptic.md', 'agent-user.md', 'operator.md', 'author.md']
const BLOCK = /^```(sh|text)\n(.*?)^```$/gms
/** All is printed in one order, and what was started ends, whatever fails. */
const PREPARED = `exec 2>&1\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT`
/** Between what two blocks print. */
const BETWEEN = '\u0001\n'

const folder = mkdtempSync(join(tmpdir(), 'haversack-pages-'))
let vendor: RecordingUpstream

beforeAll(async () => {
  vendor = await recordingUpstream()
  vendor.answerWith(answerByScript)
  makeProgram('haversack', `"${join(ROOT, 'src/cli.ts')}"`)
  makeProgram('claude', `"${join(ROOT, 'test/processes/worker-small-agent.ts')}"`)
})

afterAll(async () => {
  await vendor.close()
  rmSync(folder, { recursive: true, maxRetries: 10 })
})

/** A program as a shell finds it. */
function makeProgram(name: string, script: string): void {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\nexec "${process.execPath}" ${script} "$@"\n`)
  chmodSync(path, 0o755)
}

/** A home and folder of work, where the package can be imported. */
function makeHome(page: string): string {
  const home = join(folder, page.replace('.md', ''))
  const installed = join(home, 'node_modules/haversack')
  mkdirSync(installed, { recursive: true })
  const source = pathToFileURL(join(ROOT, 'src/index.ts')).href
  writeFileSync(join(installed, 'index.js'), `export * from '${source}'\n`)
  writeFileSync(join(installed, 'package.json'), '{"type":"module","exports":"./index.js"}')
  const orders = Array.from({ length: 100 }, (_, id) => ({ id, state: 'sent', total: 10 * id }))
  const call = { id: 'c1', type: 'function', function: { name: 'list_orders', arguments: '{}' } }
  const messages = [
    { role: 'user', content: 'Which orders of Ada were lost?' },
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'c1', content: JSON.stringify(orders) },
  ]
  writeFileSync(join(home, 'conversation.json'), JSON.stringify({ model: 'gpt-5', messages }))
  return home
}

/** Each block of commands, and what the page says that it prints. */
function stepsOf(page: string): { commands: string; printed: string }[] {
  const steps: { commands: string; printed: string }[] = []
  const text = readFileSync(join(ROOT, 'docs/guide', page), 'utf8')
  for (const [, kind, content = ''] of text.matchAll(BLOCK)) {
    if (kind === 'sh') steps.push({ commands: content, printed: '' })
    else steps.at(-1)!.printed = content
  }
  return steps
}

describe.each(PAGES)('%s', page => {
  it('has commands that print what it says', async () => {
    const steps = stepsOf(page)
    expect(steps.length).toBeGreaterThanOrEqual(3)
    const home = makeHome(page)
    const port = String(await freePort())
    const env = {
      ...process.env,
      PATH: [folder, process.env['PATH']].join(delimiter),
      HOME: home,
      HAVERSACK_DATA_DIR: join(folder, 'data', page),
      HAVERSACK_ANTHROPIC_URL: vendor.url,
      HAVERSACK_PORT: port,
      HAVERSACK_URL: `http://127.0.0.1:${port}`,
    }
    // One shell, so that a block can use what those before it have set and started.
    const script = steps
      .map(({ commands }) => commands)
      .join(`printf '${BETWEEN}'\n`)
      .replaceAll(/https:\/\/api\.(?:anthropic|openai)\.com/g, vendor.url)
      .replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
    const { stdout } = await promisify(execFile)('sh', ['-ec', `${PREPARED}\n${script}`], {
      ...{ cwd: home, env },
    })
    const printed = stdout.replaceAll(`127.0.0.1:${port}`, '127.0.0.1:8787')
    expect(printed.replaceAll(home, '/home/me').split(BETWEEN)).toEqual(
      steps.map(step => step.printed),
    )
  })

  it('a page of the guide is short', () => {
    const lines = readFileSync(join(ROOT, 'docs/guide', page), 'utf8')
      .trimEnd()
      .split('\n')
    expect(lines.length).toBeLessThanOrEqual(60)
  })
})
