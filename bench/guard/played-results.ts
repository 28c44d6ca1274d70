import { execFile } from 'node:child_process'
import { createReadStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createSum } from './sum.ts'

const run = promisify(execFile)
const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

/** Options of `haversack replay`, by the name of the run. */
const RUNS: Readonly<Record<string, readonly string[]>> = {
  lossless: [],
  trim: ['--budget', '2000', '--mode', 'trim'],
  elide: ['--budget', '2000', '--mode', 'elide'],
  'estimated-tokenizer': ['--model', 'claude-sonnet-4-5'],
}

/** All requests and answers of `haversack replay --transcript`, with sessions as recorded. */
export async function* playedResults(corpus: string): AsyncGenerator<readonly [string, string]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-guard-'))
  try {
    for (const [name, options] of Object.entries(RUNS)) {
      const transcript = join(folder, `${name}.jsonl`)
      // A replay that finds fault says so by its exit code; what it wrote counts all the same.
      const { code } = await run(process.execPath, [
        ...[CLI, 'replay', corpus, '--transcript', transcript, ...options],
      ]).then(
        () => ({ code: 0 }),
        (error: { code?: number }) => ({ code: error.code ?? -1 }),
      )
      const sum = createSum()
      for await (const line of createInterface({ input: createReadStream(transcript) })) {
        sum.add(line)
      }
      sum.add(`exit ${code}`)
      yield [name, sum.hex()]
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
