import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startProcess } from '../../test/support/service-process.ts'
import { createSum } from './sum.ts'

const run = promisify(execFile)
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
const EXAMPLE = new URL('../../config.example.toml', import.meta.url)

/** What the service says of itself: its OpenAPI document, metrics, settings, and command line. */
export async function* servicePages(): AsyncGenerator<readonly [string, string]> {
  const upstream = 'http://127.0.0.1:9'
  const service = await startProcess({
    env: { HAVERSACK_ANTHROPIC_URL: upstream, HAVERSACK_OPENAI_URL: upstream },
  })
  try {
    const read = async (path: string) => (await fetch(service.url + path)).text()
    yield ['openapi.json', sumOf([await read('/openapi.json')])]
    const metrics = (await read('/metrics')).split('\n').filter(line => line.startsWith('#'))
    yield ['metrics', sumOf(metrics.sort())]
  } finally {
    service.child.kill('SIGTERM')
    await service.exited
  }
  yield ['config.example.toml', sumOf([readFileSync(EXAMPLE, 'utf8')])]
  yield ['help', sumOf(await helpPages())]
}

async function helpPages(): Promise<readonly string[]> {
  const overview = await help('--help')
  const commands = [...overview.matchAll(/^ {2}([a-z]+) /gm)].map(([, name]) => name as string)
  return [overview, ...(await Promise.all(commands.map(name => help(name, '--help'))))]
}

async function help(...args: string[]): Promise<string> {
  return (await run(process.execPath, [CLI, ...args])).stdout
}

function sumOf(parts: readonly string[]): string {
  const sum = createSum()
  for (const part of parts) sum.add(part)
  return sum.hex()
}
