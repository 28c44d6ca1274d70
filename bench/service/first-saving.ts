import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import spawn from 'cross-spawn'
import { startScriptedVendor } from '../../test/support/scripted-vendor.ts'
import { markdownTable } from '../support/markdown-table.ts'

const LIMIT_S = 60
const AGENT = fileURLToPath(new URL('agent.mjs', import.meta.url))
/**
 * From nothing to the first saving: the packed package is installed into an empty folder by an npm
 * with an empty cache, and an agent is run behind it, as its users would. Fails after a minute, or
 * if nothing was saved. It also shows on a system that is new whether the program runs there: the
 * agent is started by a script of the shell, on Windows by a `.cmd`.
 */
export async function firstSaving(folder: string) {
  const home = join(folder, 'home')
  const env = {
    ...process.env,
    ...{ HOME: home, USERPROFILE: home, npm_config_cache: join(folder, 'cache') },
    PATH: [join(folder, 'programs'), process.env['PATH']].join(delimiter),
  }

  /** Runs a program to its end. @throws Error with what it wrote if it fails */
  async function run(command: string, args: readonly string[], { cwd = home, more = {} } = {}) {
    const child = spawn(command, args, { cwd, env: { ...env, ...more }, stdio: 'pipe' })
    let written = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        written += chunk.toString()
      })
    }
    const code = await new Promise((resolve, reject) => {
      child.on('error', reject)
      child.on('close', resolve)
    })
    if (code !== 0) throw new Error(`${command} ended with ${code}: ${written}`)
    return written
  }

  /** A program with a name, as a package manager makes one for the shell of the system. */
  function makeAgent(): void {
    const programs = join(folder, 'programs')
    mkdirSync(programs)
    copyFileSync(AGENT, join(programs, 'agent.mjs'))
    writeFileSync(join(programs, 'agent.cmd'), '@node "%~dp0agent.mjs" %*\r\n')
    const script = '#!/bin/sh\nexec node "$(dirname "$0")/agent.mjs" "$@"\n'
    writeFileSync(join(programs, 'agent'), script, { mode: 0o755 })
  }

  async function pack(): Promise<string> {
    const out = await run('npm', ['pack', '--json', '--silent', '--pack-destination', folder], {
      cwd: process.cwd(),
    })
    const [{ filename }] = JSON.parse(out.slice(out.indexOf('[')))
    return join(folder, filename)
  }

  mkdirSync(home)
  makeAgent()
  const file = await pack()
  const vendor = await startScriptedVendor('anthropic')
  const started = performance.now()
  await run('npm', ['install', '--no-audit', '--no-fund', file])
  const installed = performance.now()
  const said = await run('npx', ['haversack', 'run', '--summary', '--', 'agent'], {
    more: { ANTHROPIC_BASE_URL: vendor.url },
  })
  const ended = performance.now()
  await vendor.close()
  const seconds = (from: number, to: number) => ((to - from) / 1_000).toFixed(1)
  const [saved] = said.split('\n').filter(line => line.startsWith('haversack: results:'))
  const table = markdownTable(
    ['step', 's'],
    [
      ['npm install, empty cache', seconds(started, installed)],
      ['haversack run -- agent', seconds(installed, ended)],
      ['both', seconds(started, ended)],
    ],
  )
  const isSaved = saved !== undefined && /→ .*\(−/.test(saved)
  return { text: `${table}\n\n${saved}`, ok: isSaved && ended - started <= LIMIT_S * 1_000 }
}
