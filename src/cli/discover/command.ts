import { hash } from 'node:crypto'
import { existsSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { processEnv } from '../../config/env.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { wholeNumber } from '../../console/options.ts'
import { lookOf, paint } from '../../console/paint.ts'
import { createProgress } from '../../console/progress.ts'
import { vendorOf } from '../../core/conversation/usage/billing.ts'
import { openai } from '../../core/dialects/openai.ts'
import type { Example } from '../../lab/discover/summarize-log.ts'
import { listLogs } from '../../lab/logs/list-logs.ts'
import { LogThreads } from '../../lab/logs/log-threads.ts'
import { logFolders } from '../../lab/nightly/log-folders.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { dataFolder, pricesDate } from '../gain/read-gain.ts'
import { figuresOf } from './figures.ts'
import { type KnownLog, type LogMemory, readMemory, writeMemory } from './known-logs.ts'
import { screenOf } from './screen.ts'

const DAYS = 30
const DAY_MS = 86_400_000
const MEGABYTE = 1_000_000
/**
 * Processor time of a thread in which logs are drawn and encoded, and how much of one log is, for a
 * sample. By the clock a busy machine would have too small a sample.
 */
const SAMPLE_MS = 1_500
const MOST_BYTES = 400_000
const MOST_THREADS = 4
/** Bytes of logs for which a thread is started. */
const THREAD_BYTES = 2 * MEGABYTE

export const discoverCommand = defineCommand({
  name: 'discover',
  details:
    'Reads the logs of Claude Code and Codex, or those at PATH, and encodes a random sample for ' +
    'about two seconds. The range holds nine times in ten. Nothing leaves this machine. ' +
    'What was read is remembered without its content, so unchanged logs are not read again.',
  examples: ['discover', 'discover --all', 'discover --days 7 --json'],
  operands: '[PATH …]',
  maxOperands: Number.POSITIVE_INFINITY,
  options: {
    all: { type: 'boolean', help: 'Encode all results: exact, about a second a megabyte' },
    days: wholeNumber({
      value: 'N',
      help: `The last days (default ${DAYS})`,
      min: 1,
    }),
    json: { type: 'boolean', help: 'All figures as JSON' },
  },
  async run({ all, days = DAYS, json }, paths) {
    const env = processEnv()
    const known = paths.length > 0 ? paths : logFolders(env)
    const places = known.filter(existsSync)
    if (places.length < known.length && paths.length > 0) {
      throw new UsageError(`there is no ${known.find(path => !existsSync(path))}`)
    }
    const sinceMs = Date.now() - days * DAY_MS
    const folder = await dataFolder(env)
    const memory = readMemory(folder)
    const logs = knownLogs(places, sinceMs, memory)
    if (logs.length === 0) {
      const looked = known.map(path => `  ${path}\n`).join('')
      process.stderr.write(`haversack: no logs of the last ${days} days. Looked here:\n${looked}`)
      return EXIT.failed
    }
    const most = threadsFor(logs)
    const threads = new LogThreads(most)
    try {
      const isNew = await readNew(logs, threads)
      if (all || isNew || !logs.some(({ encoded }) => encoded !== null)) {
        await encodeSome(logs, memory.salt, all ? null : most * SAMPLE_MS, threads)
      }
      writeMemory(folder, memory.salt, logs)
      const figures = figuresOf(logs, Math.floor(sinceMs / DAY_MS))
      if (json) {
        process.stdout.write(`${JSON.stringify({ days, ...figures })}\n`)
        return EXIT.ok
      }
      const example = await exampleOf(logs, threads)
      const terms = { days, isAll: all, pricesOf: pricesDate(), example, next: nextOf(logs) }
      const look = lookOf(env, process.stdout)
      const lines = screenOf(figures, terms, look).map(line => paint(line, look))
      process.stdout.write(`${lines.join('\n')}\n`)
      return EXIT.ok
    } finally {
      await threads.close()
    }
  },
})

function threadsFor(logs: readonly KnownLog[]): number {
  const bytes = logs.reduce((sum, { file }) => sum + file.bytes, 0)
  const most = Math.min(MOST_THREADS, availableParallelism())
  return Math.min(most, Math.max(1, Math.floor(bytes / THREAD_BYTES)))
}

/** The logs that were written since, with what is remembered of those that are unchanged. */
function knownLogs(places: readonly string[], sinceMs: number, memory: LogMemory): KnownLog[] {
  return listLogs(places).files.flatMap(file => {
    const modified = statSync(file.path, { throwIfNoEntry: false })?.mtimeMs ?? 0
    if (modified < sinceMs) return []
    const old = Object.hasOwn(memory.logs, file.path) ? memory.logs[file.path] : undefined
    const isSame = old?.bytes === file.bytes && old.modified === modified
    const { summary = null, encoded = null } = isSame ? old : {}
    return [{ file, modified, summary, encoded }]
  })
}

/** Reads the logs of which nothing is remembered. Resolves to whether there was one. */
async function readNew(logs: readonly KnownLog[], threads: LogThreads): Promise<boolean> {
  const unread = logs.filter(({ summary }) => summary === null)
  const bytes = unread.reduce((sum, { file }) => sum + file.bytes, 0)
  const progress = createProgress('read MB', Math.ceil(bytes / MEGABYTE))
  await threads.each(
    // The longest first, so that no thread is left with one at the end.
    unread.toSorted((a, b) => b.file.bytes - a.file.bytes),
    ({ file }) => ({ kind: 'summarize', file }),
    (log, summary) => {
      log.summary = summary
      progress.advance(log.file.bytes / MEGABYTE)
    },
  )
  progress.done()
  return unread.length > 0
}

/**
 * Encodes logs as they are drawn.
 * @param mostMs as many as there is so much processor time for; `null`: all of them
 */
async function encodeSome(
  logs: readonly KnownLog[],
  salt: string,
  mostMs: number | null,
  threads: LogThreads,
): Promise<void> {
  const readable = logs.filter(({ summary }) => summary !== null && summary.results.length > 0)
  const open = inDrawnOrder(readable, salt).filter(
    ({ encoded, summary }) =>
      encoded === null || (mostMs === null && encoded.tokens.length < summary!.results.length),
  )
  const progress = createProgress('encode', mostMs ?? open.length)
  /** When the first one was done: what threads take to start is not of the sample. */
  let start: NodeJS.CpuUsage | undefined
  let shown = 0
  await threads.each(
    open,
    ({ file }) => {
      if (mostMs === null) return { kind: 'encode', file, mostBytes: Number.MAX_SAFE_INTEGER }
      const { user, system } = process.cpuUsage(start)
      const passed = start === undefined ? 0 : (user + system) / 1_000
      for (; shown < passed; shown++) progress.advance()
      return passed > mostMs ? null : { kind: 'encode', file, mostBytes: MOST_BYTES }
    },
    (log, encoded) => {
      log.encoded = encoded
      start ??= process.cpuUsage()
      if (mostMs === null) progress.advance()
    },
  )
  progress.done()
}

/** Logs in the random order that a salt gives them; a new one takes a place between others. */
function inDrawnOrder(logs: readonly KnownLog[], salt: string): readonly KnownLog[] {
  return logs
    .map(log => ({ log, place: hash('sha1', salt + log.file.path, 'hex') }))
    .toSorted((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ log }) => log)
}

/** The result that shows most, of a log that was encoded. */
async function exampleOf(logs: readonly KnownLog[], threads: LogThreads): Promise<Example | null> {
  let best: { readonly log: KnownLog; readonly at: number; readonly saved: number } | null = null
  for (const log of logs) {
    const at = log.encoded?.example ?? -1
    const [before, after] = log.encoded?.tokens[at] ?? [0, 0]
    if (before - after > (best?.saved ?? 0)) best = { log, at, saved: before - after }
  }
  if (best === null) return null
  const { log, at } = best
  let example: Example | null = null
  await threads.each(
    [log],
    ({ file }) => ({ kind: 'example', file, at }),
    (_, answer) => {
      example = answer
    },
  )
  return example
}

/** The agent whose models answered most. */
function nextOf(logs: readonly KnownLog[]): string {
  let byCodex = 0
  for (const { summary } of logs) {
    for (const [, , model] of summary?.answers ?? []) {
      byCodex += vendorOf(summary?.models[model]) === openai.vendor.name ? 1 : -1
    }
  }
  return `haversack run -- ${byCodex > 0 ? 'codex' : 'claude'}`
}
