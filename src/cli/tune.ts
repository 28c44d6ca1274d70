import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { availableParallelism, homedir } from 'node:os'
import { join } from 'node:path'
import { processEnv } from '../config/env.ts'
import { loadConfig } from '../config/load.ts'
import { TELEMETRY_KEY_BYTES } from '../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../core/tokens/resolve.ts'
import { EXIT } from '../exit-codes.ts'
import { loadTelemetryKey } from '../telemetry/key-file.ts'
import type { EventFile } from '../tune/event-file.ts'
import { type LogList, listLogs } from '../tune/logs/list-logs.ts'
import { createStudy } from '../tune/study/study.ts'
import { type Command, text, UsageError, type Values } from './command.ts'
import { tokenizerFieldsOf, tokenizerOptions } from './options.ts'
import { createProgress } from './progress.ts'
import { mineFiles } from './tune/mine-files.ts'
import { type Minings, toJson, toTables } from './tune/report.ts'

/** Where agents keep their logs. */
const LOG_FOLDERS = [
  ['.claude', 'projects'],
  ['.codex', 'sessions'],
] as const
const MEGABYTE = 1_000_000
/** Logs that are worth the start of a thread. */
const THREAD_BYTES = 2 * MEGABYTE

export const tuneCommand: Command = {
  name: 'tune',
  summary:
    'Learn from what tools gave. mine: read the logs of Claude Code and Codex (default ~/.claude/projects and ~/.codex/sessions), ' +
    'and tell what their tool results are like and what notations save; nothing of their content is told or written',
  operands: 'mine [PATH …]',
  maxOperands: 64,
  options: {
    ...tokenizerOptions,
    data: {
      type: 'string',
      value: 'FOLDER',
      help: '--out: whose key hashes (default HAVERSACK_DATA_DIR)',
    },
    out: { type: 'string', value: 'FILE', help: 'Write an event for each result, as Parquet' },
    report: { type: 'boolean', help: 'Print tables (default without --out)' },
    json: { type: 'boolean', help: 'Print the same as JSON' },
  },
  async run(values, [action, ...paths]) {
    if (action !== 'mine') throw new UsageError('the operand is mine')
    const tokens = tokenizerFieldsOf(values)
    // A tokenizer that is not known fails here, once for all results.
    resolveTokenizer(tokens)
    const list = listLogs(pathsOf(paths))
    const out = text(values, 'out')
    const file = out === undefined ? null : await openFile(out)
    try {
      const minings = await mine(list, {
        tokens,
        key: file === null ? randomBytes(TELEMETRY_KEY_BYTES) : keyOf(values),
        file,
      })
      file?.finish()
      tell(minings)
      const print = values['json'] === true ? toJson : toTables
      const isWanted = values['report'] === true || values['json'] === true || file === null
      if (isWanted) process.stdout.write(print(minings))
      return EXIT.ok
    } catch (error) {
      file?.discard()
      throw error
    }
  },
}

interface MineOptions {
  readonly tokens: ReturnType<typeof tokenizerFieldsOf>
  readonly key: Uint8Array
  readonly file: EventFile | null
}

async function mine(list: LogList, { tokens, key, file }: MineOptions): Promise<Minings> {
  const { files } = list
  const bytes = files.reduce((sum, each) => sum + each.bytes, 0)
  const study = createStudy()
  const progress = createProgress('mine MB', Math.ceil(bytes / MEGABYTE))
  let unseen = 0
  const read = await mineFiles(files, {
    tokens,
    key,
    threads: Math.min(availableParallelism(), Math.max(1, Math.floor(bytes / THREAD_BYTES))),
    onMined(mined) {
      if (study.add(mined)) file?.add(mined)
    },
    onRead(count) {
      for (unseen += count; unseen >= MEGABYTE; unseen -= MEGABYTE) progress.advance()
    },
  })
  progress.done()
  const unreadable = list.unreadable + read.unreadable
  return {
    files: files.length,
    other: list.other,
    bytes,
    unreadable,
    tally: read.tally,
    study: study.result(),
  }
}

/** @throws UsageError */
function pathsOf(paths: readonly string[]): readonly string[] {
  if (paths.length === 0) {
    const found = LOG_FOLDERS.map(parts => join(homedir(), ...parts)).filter(existsSync)
    if (found.length > 0) return found
    throw new UsageError('there are no logs of Claude Code or Codex; name a folder or a file')
  }
  const missing = paths.find(path => !existsSync(path))
  if (missing !== undefined) throw new UsageError(`there is no ${missing}`)
  return paths
}

/** The secret of this installation, so that events of several runs can be put together. */
function keyOf(values: Values): Uint8Array {
  const { data_dir } = loadConfig({ env: processEnv(), insecure: true })
  return loadTelemetryKey(text(values, 'data') ?? data_dir)
}

/** @throws UsageError where it cannot be written */
async function openFile(path: string): Promise<EventFile> {
  const { createEventFile } = await import('../tune/event-file.ts')
  try {
    return createEventFile(path)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

/** What was passed over, by reason; without a path, since that names a project. */
function tell({ files, other, unreadable, tally, study }: Minings): void {
  const { lines, results, without_call, skipped } = tally
  const faults = Object.entries(skipped).flatMap(([name, count]) =>
    count === 0 ? [] : [`${name} ${count}`],
  )
  const parts = [
    `${files} logs, ${lines} lines, ${results} results in ${study.sessions} sessions`,
    ...(study.copies === 0 ? [] : [`${study.copies} copies of results in other logs`]),
    ...(without_call === 0 ? [] : [`${without_call} results without a call`]),
    ...(other === 0 ? [] : [`${other} files that are no logs`]),
    ...(unreadable === 0 ? [] : [`${unreadable} files or folders that cannot be read`]),
    ...(faults.length === 0 ? [] : [`passed over: ${faults.join(', ')}`]),
  ]
  process.stderr.write(`${parts.join('\n')}\n`)
}
