import { spawn } from 'node:child_process'
import {
  chmodSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { startSmallService } from '../integration/service/harness.ts'
import {
  type RecordingUpstream,
  recordingUpstream,
} from '../integration/service/recording-upstream.ts'
import { fillDataFolder, writeLogs } from '../support/agent-logs.ts'
import { bundleModules } from '../support/bundle-workers.ts'
import { BUNDLES } from '../support/bundled-worker.ts'
import {
  type HttpUpstream,
  json,
  legacyServer,
  result,
  startHttpUpstream,
} from '../support/mcp/http-upstream.ts'
import { freePort } from './free-port.ts'
import { answerByScript } from './scripted-model.ts'

/**
 * Every block of commands in README.md and the guide is run and has to succeed, page by page, in
 * one home and before one service. A page says beside a block why that cannot be:
 * `<!-- not run: a cluster -->`.
 */

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
/** Their commands are run in `guide-pages.test.ts`, with what they print. */
const RUN_ELSEWHERE = new Set(['sceptic.md', 'agent-user.md', 'operator.md', 'author.md'])
const BLOCK =
  /^(?:<!-- not run: (?<why>[^\n]*) -->\n\n)?```(?<kind>sh|bash|console)\n(?<commands>.*?)^```$/gms
const REASONS = new Set([
  'a cluster',
  'a Docker engine',
  "a vendor's key",
  'a browser',
  'names and keys of your own',
  'the whole test',
  'an installation',
])

const folder = mkdtempSync(join(tmpdir(), 'haversack-guide-'))
let vendor: RecordingUpstream
let mcp: HttpUpstream
/** Where the command line is in few files, as the package has it. */
let bundles: string
let service: Awaited<ReturnType<typeof startSmallService>>

beforeAll(async () => {
  bundles = await bundleModules(['src/cli.ts'])
  vendor = await recordingUpstream()
  vendor.answerWith(answerByScript)
  const tools = '{"tools":[{"name":"list_boats","inputSchema":{"type":"object"}}]}'
  mcp = await startHttpUpstream(
    legacyServer((response, { id }) => json(response, result(id, tools))),
  )
  service = await startSmallService({
    proxy: { anthropic_url: vendor.url, openai_url: vendor.url },
  })
  makePrograms()
  mkdirSync(join(folder, 'data'), { recursive: true })
  fillDataFolder(join(folder, 'data'))
})

afterAll(async () => {
  await Promise.all([service.close(), mcp.close(), vendor.close()])
  rmSync(folder, { recursive: true })
})

/** The home of a page, with what it takes for granted. */
function makeHome(page: string): string {
  const home = join(folder, basename(page, '.md'))
  const logs = ['.claude/projects/p', 'logs', 'recordings', 'DIR']
  for (const each of logs) {
    mkdirSync(join(home, each), { recursive: true })
    writeLogs(join(home, each), true)
  }
  const call = { type: 'tool_use', id: 'c1', name: 'list_boats', input: {} }
  const content = JSON.stringify(Array.from({ length: 50 }, (_, id) => ({ id, name: 'boat' })))
  const messages = [
    { role: 'user', content: 'Which boats are there?' },
    { role: 'assistant', content: [call] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
  ]
  const body = { model: 'claude-sonnet-4-5', max_tokens: 9, messages }
  const files = {
    '.mcp.json': JSON.stringify({ mcpServers: { boats: { type: 'http', url: mcp.url } } }),
    'request.json': JSON.stringify(body),
    'try.toml': '[format_pipeline]\n',
    'boats.toml': /^```toml\n(\[\[view\]\].*?)^```$/ms.exec(pageOf('views.md'))?.[1] ?? '',
  }
  for (const [name, content] of Object.entries(files)) writeFileSync(join(home, name), content)
  return home
}

/** The programs that pages name. */
function makePrograms(): void {
  mkdirSync(join(folder, 'bin'))
  const node = JSON.stringify(process.execPath)
  const agent = `${node} "${join(ROOT, 'test/processes/worker-small-agent.ts')}" "$@"`
  const agents = `[ "$1" = mcp ] || exec ${agent}`
  program('haversack', `exec ${node} "${join(ROOT, 'src/cli.ts')}" "$@"`)
  for (const name of ['claude', 'codex']) program(name, agents)
  program('npm', `shift 3; cd "${ROOT}" && exec ${node} "${join(ROOT, 'bench/run.ts')}" "$@"`)
}

function program(name: string, script: string): void {
  const path = join(folder, 'bin', name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
}

function pageOf(name: string): string {
  return readFileSync(join(ROOT, name === 'README.md' ? name : join('docs/guide', name)), 'utf8')
}

function blocksOf(page: string) {
  return [...pageOf(page).matchAll(BLOCK)].map(({ groups, index }) => ({
    commands: groups?.['commands'] ?? '',
    why: groups?.['why'],
    line: pageOf(page).slice(0, index).split('\n').length,
  }))
}

/**
 * What users do between commands: they wait for a service that was started, and end one that serves
 * in front of them. In the end the first program to start ends last, since others may need it.
 */
const PREPARED = `
exec 2>&1
started=''
trap 'for each in $started; do kill $each; wait $each; done 2>/dev/null || true' EXIT
curl() { command curl --fail-with-body --retry 30 --retry-all-errors --retry-delay 1 "$@"; }
serve_and_end() {
  haversack serve "$@" > served.log 2>&1 & served=$!
  until grep -q 'listens on' served.log; do
    kill -0 $served 2>/dev/null || { cat served.log; exit 1; }
    sleep 0.1
  done
  kill $served; wait $served || true
}
`
const IN_FRONT = /haversack serve(?=[^&\n]*$)/gm

/** @returns what the first block that fails printed; empty if all succeed */
async function run(page: string): Promise<string> {
  const home = makeHome(page)
  const [port, first, second, redis] = [
    new URL(service.url).port,
    ...(await Promise.all([1, 2, 3].map(freePort))),
  ]
  const script = blocksOf(page)
    .filter(({ why }) => why === undefined)
    .map(({ commands, line }) => `echo 'BLOCK ${page}:${line}'\n${commands}`)
    .join('\n')
    .replaceAll(IN_FRONT, 'serve_and_end --port 0')
    .replaceAll('--port 8787', `--port ${first}`)
    .replaceAll('8788', `${second}`)
    .replaceAll('6390', `${redis}`)
    .replaceAll('localhost:8787', `localhost:${page === 'replicas.md' ? first : port}`)
    .replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
    .replaceAll(/https:\/\/api\.(?:anthropic|openai)\.com/g, vendor.url)
    .replaceAll(/\/path\/to\/haversack.toml|\/tmp\/(?:one|two)/g, path =>
      join(home, basename(path)),
    )
    .replaceAll(/haversack setup claude/g, '$& --yes')
    .replaceAll('revoke ID', "revoke $(haversack keys list | awk 'END { print $1 }')")
    .replaceAll('--daemonize yes', '> redis.log &')
    .replaceAll(/ &$/gm, ' & started="$! $started"')
  const child = spawn('sh', ['-ec', `${PREPARED}${script}`], {
    detached: true,
    cwd: page === 'README.md' ? ROOT : home,
    env: {
      ...process.env,
      PATH: [join(folder, 'bin'), process.env['PATH']].join(delimiter),
      HOME: home,
      HAVERSACK_DATA_DIR: join(folder, 'data'),
      HAVERSACK_ANTHROPIC_URL: vendor.url,
      HAVERSACK_OPENAI_URL: vendor.url,
      HAVERSACK_URL: `http://127.0.0.1:${port}`,
      HAVERSACK_WORKERS: '1',
      // They start in a third of the time, and what they start themselves too.
      [BUNDLES]: bundles,
      NODE_OPTIONS: `--import ${new URL('../support/preload-bundles.ts', import.meta.url)}`,
    },
  })
  child.stdin.end()
  const ended = new Promise(resolve => child.on('exit', resolve))
  onTestFinished(() => endAll(child.pid))
  const printed = await text(child.stdout)
  return (await ended) === 0 ? '' : printed.slice(printed.lastIndexOf('BLOCK'))
}

/** What a shell left, if it was ended itself. */
function endAll(pid = 0): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // Nothing is left.
  }
}

if (process.env['TEST_WITHOUT_REDIS'] === '1') RUN_ELSEWHERE.add('replicas.md')
const pages = ['README.md', ...globSync('*.md', { cwd: join(ROOT, 'docs/guide') })].filter(
  page => !RUN_ELSEWHERE.has(page) && blocksOf(page).length > 0,
)

describe('the commands of', () => {
  it.each(pages)('%s succeed', async page => {
    expect(await run(page)).toBe('')
  })

  it('no page are passed over for another reason than those', () => {
    const whys = pages.flatMap(page => blocksOf(page).flatMap(({ why }) => why ?? []))
    expect(whys.filter(why => !REASONS.has(why))).toEqual([])
    expect(pages.length).toBeGreaterThan(13)
  })
})
