import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TELEMETRY_KEY_BYTES } from '../../src/core/telemetry/pseudonyms.ts'
import { temporaryFolder } from '../unit/book/events/writer.ts'
import { ANY_SAVING_FILE } from './any-saving.ts'

/** Never in an output, whatever they stand in. */
export const SECRET = 'hunter2-planted'

function code(file: number): string {
  const lines = Array.from({ length: 7 }, (_, n) => [
    `export function work${file}x${n}(left, right) {`,
    ...Array.from({ length: 8 }, (_, at) => `  const v${at} = left * ${file}${n}${at} + right`),
    '  return v0 + v1',
    '}',
  ]).flat()
  return [`// ${SECRET}`, ...lines].map((line, at) => `${at + 1}\t${line}`).join('\n')
}

interface Step {
  readonly tool: string
  readonly args: object
  readonly text: string
}

/** Sessions in which every read file is edited at a place that elision hides, or none is. */
export function writeLogs(folder: string, isNeeded: boolean, sessions = 14): string {
  const lines: string[] = []
  for (let s = 0; s < sessions; s++) {
    const steps: Step[] = []
    for (let f = 0; f < 2; f++) {
      const file_path = `/src/file${s}-${f}.ts`
      const file = 2 * s + f
      steps.push({ tool: 'Read', args: { file_path }, text: code(file) })
      const old_string = `const v7 = left * ${file}57 + right`
      const args = isNeeded ? { file_path, old_string, new_string: SECRET } : { file_path }
      steps.push({ tool: 'Edit', args, text: 'ok' })
    }
    for (const [at, step] of steps.entries()) {
      lines.push(JSON.stringify({ session: `s${s}`, call_id: `c${s}-${at}`, ...step }))
    }
  }
  const path = join(folder, 'log.jsonl')
  writeFileSync(path, `${lines.join('\n')}\n`)
  return path
}

/** A data folder whose halves are the same in each run. */
export function dataFolder(): string {
  const data = temporaryFolder()
  fillDataFolder(data)
  return data
}

/** Lets an analysis leave parts out for any saving, and cut conversations into the same halves. */
export function fillDataFolder(data: string): void {
  copyFileSync(ANY_SAVING_FILE, join(data, 'pipeline_config.toml'))
  writeFileSync(join(data, 'telemetry.key'), new Uint8Array(TELEMETRY_KEY_BYTES), { mode: 0o600 })
}
