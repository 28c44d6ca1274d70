import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mineFiles } from '../../src/cli/tune/mine-files.ts'
import { createPseudonyms, TELEMETRY_KEY_BYTES } from '../../src/core/telemetry/pseudonyms.ts'
import { createLocalContext } from '../../src/runtime/local-context.ts'
import { type LogFile, listLogs } from '../../src/tune/logs/list-logs.ts'
import { readLines } from '../../src/tune/logs/read-lines.ts'
import { noTally, readLog } from '../../src/tune/logs/read-log.ts'
import { mineLog } from '../../src/tune/mine-log.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { median } from '../support/statistics.ts'
import { claudeCodeLog, codexLog, recordedLog, type SessionResult } from './log-writers.ts'

type Sessions = ReadonlyMap<string, readonly SessionResult[]>

const MEGABYTE = 1e6
const MEBIBYTE = 2 ** 20
const ROUNDS = 5
const THREAD_ROUNDS = 3
/** Of logs that show how memory grows. */
const LONG_BYTES = 256 * MEGABYTE
const KEY = new Uint8Array(TELEMETRY_KEY_BYTES)
/** What every line that matters has one of: what a reader could look for that skips the others. */
const NEEDLES = ['"tool_use"', '"tool_result"', 'compact', 'function_call', 'tool_call', '"text"']

/** Tables of how fast logs are read and mined, and in how much memory. */
export async function speedTables(sessions: Sessions): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-mine-'))
  try {
    const kinds = { 'Claude Code': claudeCodeLog, Codex: codexLog, recordings: recordedLog }
    const logs = Object.entries(kinds).map(([name, write]) => {
      return { name, files: writeLogs(join(folder, name), sessions, write) }
    })
    return [
      readingTable(logs),
      await threadsTable(logs[0]!.files),
      memoryTable(join(folder, 'long.jsonl'), logs[0]!.files),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function writeLogs(
  folder: string,
  sessions: Sessions,
  write: (session: string, results: readonly SessionResult[]) => string,
): readonly LogFile[] {
  mkdirSync(folder)
  let count = 0
  for (const [session, results] of sessions) {
    writeFileSync(join(folder, `${count++}.jsonl`), write(session, results))
  }
  return listLogs([folder]).files
}

interface Logs {
  readonly name: string
  readonly files: readonly LogFile[]
}

function readingTable(logs: readonly Logs[]): string {
  const rows = logs.map(({ name, files }) => {
    const mb = bytesOf(files) / MEGABYTE
    const each = (run: (path: string) => number) => () => {
      for (const { path } of files) run(path)
    }
    const ways = {
      read: each(path => [...readLog(path, noTally())].length),
      parse: each(path => [...readLines(path)].length),
      needles: each(path => countWithNeedles(readFileSync(path))),
    }
    const ms: Record<string, number[]> = { read: [], parse: [], needles: [] }
    for (let round = 0; round < ROUNDS; round++) {
      for (const [way, run] of Object.entries(ways)) ms[way]!.push(cpuMs(run))
    }
    const rate = (way: string) => Math.round((1_000 * mb) / median(ms[way]!))
    const mined = cpuMs(() => mineAll(files))
    const results = files.reduce((sum, { path }) => sum + [...readLog(path, noTally())].length, 0)
    return [
      ...[name, mb.toFixed(1), rate('read'), rate('parse'), rate('needles')],
      ...[((1_000 * mb) / mined).toFixed(1), Math.round((1_000 * results) / mined)],
    ]
  })
  const header = ['logs', 'MB', 'read, MB/s', 'of that, parsed', 'searched only']
  return markdownTable([...header, 'mined, MB/s', 'results/s'], rows)
}

function mineAll(files: readonly LogFile[]): void {
  const options = {
    context: createLocalContext(),
    pseudonyms: createPseudonyms(KEY, ''),
    tokens: {},
  }
  for (const file of files) {
    for (const _ of mineLog(file, noTally(), options)) {
      // Only made.
    }
  }
}

function countWithNeedles(bytes: Buffer): number {
  let count = 0
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(10, start)
    const line = bytes.subarray(start, end === -1 ? bytes.length : end)
    if (NEEDLES.some(needle => line.includes(needle))) count++
    start += line.length + 1
  }
  return count
}

async function threadsTable(files: readonly LogFile[]): Promise<string> {
  const all = [1, 2].map(threads => ({ threads, seconds: [] as number[], cpu: [] as number[] }))
  for (let round = 0; round < THREAD_ROUNDS; round++) {
    for (const { threads, seconds, cpu } of all) {
      const start = performance.now()
      const before = process.cpuUsage()
      await mineFiles(files, { threads, tokens: {}, key: KEY, onMined() {}, onRead() {} })
      const { user, system } = process.cpuUsage(before)
      seconds.push((performance.now() - start) / 1_000)
      cpu.push((user + system) / MEGABYTE)
    }
  }
  const mb = bytesOf(files) / MEGABYTE
  const rows = all.map(({ threads, seconds, cpu }) => {
    const time = median(seconds)
    return [threads, time.toFixed(1), (mb / time).toFixed(1), median(cpu).toFixed(1)]
  })
  return markdownTable(['threads', 'seconds', 'MB/s', 'processor seconds'], rows)
}

/** Resident memory while one long log is read, above what it was before. */
function memoryTable(path: string, files: readonly LogFile[]): string {
  const once = Buffer.concat(files.map(file => readFileSync(file.path)))
  const many = Math.ceil(LONG_BYTES / once.length)
  const long = {
    'many lines': Buffer.concat(Array<Buffer>(many).fill(once)),
    'one line': Buffer.alloc(LONG_BYTES, 'x'),
  }
  const rows = Object.entries(long).map(([name, bytes]) => {
    writeFileSync(path, bytes)
    const before = process.memoryUsage.rss()
    let most = 0
    const onRead = () => {
      most = Math.max(most, process.memoryUsage.rss() - before)
    }
    for (const _ of readLog(path, noTally(), { onRead })) {
      // Only read.
    }
    return [name, (bytes.length / MEBIBYTE).toFixed(0), (most / MEBIBYTE).toFixed(0)]
  })
  return markdownTable(['a log of', 'MiB', 'MiB more resident'], rows)
}

function bytesOf(files: readonly LogFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Milliseconds of processor time. */
function cpuMs(run: () => void): number {
  const before = process.cpuUsage().user
  run()
  return (process.cpuUsage().user - before) / 1_000
}
