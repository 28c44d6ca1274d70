import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'

/** One recorded tool result. */
export interface RecordedResult {
  readonly session?: string
  readonly tool: string
  readonly args?: unknown
  readonly text: string
  readonly call_id?: string
  readonly is_error?: boolean
  readonly is_sidechain?: boolean
  /** Compactions of the agent's context before it. */
  readonly epoch?: number
}

/** A line of a recorded session; fields that replay does not need are passed over. */
const sessionLine = z.looseObject({
  text: z.string(),
  session: z.string().nullish(),
  tool: z.string().nullish(),
  args: z.unknown().optional(),
  call_id: z.string().nullish(),
  is_error: z.boolean().nullish(),
  is_sidechain: z.boolean().nullish(),
  epoch: z.int().min(0).max(10_000).nullish(),
})

/** The results that were found, and the files that were skipped, with the reason. */
export interface Recording {
  readonly results: readonly RecordedResult[]
  readonly skipped: readonly { readonly file: string; readonly reason: string }[]
}

/**
 * Reads recorded results below `path`: a `.jsonl` file whose lines have a `text` is a recording of
 * sessions; any other UTF-8 file is one result of a tool named like its folder. Of a folder that
 * has both `sessions` and `payloads`, only these two are read.
 */
export function readResults(path: string): Recording {
  const results: RecordedResult[] = []
  const skipped: { file: string; reason: string }[] = []
  for (const file of listFiles(path)) {
    const bytes = readFileSync(file)
    if (!isUtf8(bytes)) {
      skipped.push({ file, reason: 'not UTF-8' })
      continue
    }
    const text = bytes.toString('utf8')
    const session = file.endsWith('.jsonl') ? readSession(text) : null
    // One by one: as arguments of one call, the lines of a long recording overflow the stack.
    for (const result of session ?? [{ tool: basename(dirname(file)), text }]) results.push(result)
  }
  return { results, skipped }
}

function listFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const corpus = ['sessions', 'payloads'].map(name => join(path, name))
  if (corpus.every(existsSync)) return corpus.flatMap(listFiles)
  return readdirSync(path)
    .sort()
    .flatMap(name => listFiles(join(path, name)))
}

/** The session's results, or `null` if a line is not one. */
function readSession(text: string): RecordedResult[] | null {
  const results: RecordedResult[] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const parsed = sessionLine.safeParse(tryJson(line))
    if (!parsed.success) return null
    const { session, tool, args, call_id, is_error, is_sidechain, epoch } = parsed.data
    results.push({
      tool: tool ?? '(none)',
      text: parsed.data.text,
      args,
      ...(session ? { session } : {}),
      ...(call_id ? { call_id } : {}),
      ...(is_error == null ? {} : { is_error }),
      ...(is_sidechain == null ? {} : { is_sidechain }),
      ...(epoch == null ? {} : { epoch }),
    })
  }
  return results
}

function tryJson(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    // Not a recording: the file is then one result as a whole.
    return undefined
  }
}
