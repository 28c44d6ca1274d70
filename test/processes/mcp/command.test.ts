import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RecordingUpstream } from '../../support/mcp/recording-upstream.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-mcp-command-'))
const CLI = new URL('../../../src/cli.ts', import.meta.url).pathname

let upstream: RecordingUpstream
beforeAll(async () => {
  upstream = await RecordingUpstream.start({ era: 'legacy' })
})
afterAll(async () => {
  await upstream.close()
  rmSync(folder, { recursive: true })
})

/** Has a signal plant an error that nothing catches. */
const PLANTING =
  'data:text/javascript,process.on("SIGUSR2",()=>setImmediate(()=>{throw new Error("planted")}))'

/** Starts the command before one server; resolves once it has answered `initialize`. */
async function start() {
  const { command, args } = upstream.stdio.command()
  const config = join(folder, 'haversack.toml')
  const server = `command = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args)}\n`
  writeFileSync(config, `[mcp.servers.one]\n${server}`)
  const options = ['mcp', '--config', config, '--data-dir', join(folder, 'data')]
  const child = spawn(process.execPath, ['--import', PLANTING, CLI, ...options], {
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const exit = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })
  child.stdin.write(
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}\n',
  )
  const [answer] = await once(lines, 'line')
  const served = [...upstream.stdio.processes].at(-1)
  return { child, exit, answer: String(answer), served: served! }
}

it.each([
  ['a signal', 0, child => child.kill('SIGTERM')],
  ['the end of its input', 0, child => child.stdin.end()],
  ['an error that nothing caught', 1, child => child.kill('SIGUSR2')],
] as [string, number, (child: Awaited<ReturnType<typeof start>>['child']) => void][])(
  'ends with its servers at %s',
  async (_, code, end) => {
    const { child, exit, answer, served } = await start()
    expect(answer).toContain('"serverInfo":{"name":"haversack"')
    end(child)
    expect(await exit).toEqual([code, null])
    await served.channel.gone
  },
)
