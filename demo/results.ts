import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { arch, availableParallelism, platform, release, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { RecordedResult } from '../src/lab/replay/read-results.ts'

/** Where the results come from: this repository. */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
/** A result longer than this is cut after a line, as tools do. */
const MAX_CHARS = 60_000
const COMMITS = 40

/** What the demo plays, and what it could not make here. */
export interface DemoResults {
  readonly results: readonly RecordedResult[]
  readonly notes: readonly string[]
}

/**
 * Makes the tool results of two agent sessions on the spot, from this repository and this machine.
 * @param log lines that the service wrote; left out where empty
 * @param get fetches a path of the service
 */
export async function makeResults(
  log: string,
  get: (path: string) => Promise<string>,
): Promise<DemoResults> {
  const notes: string[] = []
  const made = [
    ...inSession('explore', [...history(notes), ...listings(), ...reads(), ...search()]),
    ...inSession('repair', [
      ...packages(notes),
      ...change(),
      ...oddments(),
      ...(await fromService(log, get, notes)),
    ]),
  ]
  return { results: made, notes }
}

type Bare = Omit<RecordedResult, 'session'>

function inSession(session: string, results: readonly Bare[]): RecordedResult[] {
  return results.map((result, index) => ({
    ...result,
    session: `demo-${session}`,
    call_id: `${session}-${result.tool}-${index}`,
  }))
}

function history(notes: string[]): Bare[] {
  const fields = ['%H', '%an', '%aI', '%s']
  const log = git('log', `--max-count=${COMMITS}`, `--format=${fields.join('%x1f')}`)
  if (log === null) {
    notes.push('no git repository here: the results of git are left out')
    return []
  }
  const commits = log.split('\n').map(line => {
    const [sha, author, date, subject] = line.split('\x1f')
    return { sha, author, date, subject }
  })
  const stat = git('log', `--max-count=${COMMITS}`, '--stat') ?? ''
  return [
    { tool: 'git_log', args: { format: 'json' }, text: json(commits) },
    { tool: 'git_log', args: { format: 'text' }, text: cut(stat) },
  ]
}

interface Entry {
  readonly name: string
  readonly type: 'file' | 'directory'
  readonly size: number
  readonly mtime: string
}

function entriesOf(folder: string): Entry[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .sort()
    .map(name => {
      const stat = statSync(join(ROOT, folder, name))
      const type = stat.isDirectory() ? 'directory' : 'file'
      return { name, type, size: stat.size, mtime: stat.mtime.toISOString() }
    })
}

function listings(): Bare[] {
  const args = { path: 'src' }
  const entries = entriesOf('src')
  const lines = entries.map(
    ({ name, type, size, mtime }) => `${type[0]} ${String(size).padStart(8)} ${mtime} ${name}`,
  )
  const cells = entries.map(({ name, size }) => `| ${name} | ${size} |`)
  return [
    { tool: 'list_directory', args, text: json(entries) },
    { tool: 'list_directory', args: { ...args, as: 'text' }, text: lines.join('\n') },
    { tool: 'report', text: ['# Sizes', '', '| file | bytes |', '|---|---|', ...cells].join('\n') },
    { tool: 'stat_files', args, text: exactStats('src') },
  ]
}

/** Times in nanoseconds are beyond doubles, and sizes end in zeros: spellings that must survive. */
function exactStats(folder: string): string {
  const files = entriesOf(folder).filter(({ type }) => type === 'file')
  return json(
    files.map(({ name }) => {
      const { size, mtimeNs } = statSync(join(ROOT, folder, name), { bigint: true })
      return { name, kib: number((Number(size) / 1024).toFixed(2)), mtime_ns: number(`${mtimeNs}`) }
    }),
  )
}

function reads(): Bare[] {
  const sources = entriesOf('src').filter(({ name }) => name.endsWith('.ts'))
  const largest = sources.sort((a, b) => b.size - a.size).slice(0, 3)
  return largest.map(({ name }) => {
    const path = join('src', name)
    const lines = readFileSync(join(ROOT, path), 'utf8').split('\n')
    const text = lines.map((line, at) => `${String(at + 1).padStart(6)}\t${line}`).join('\n')
    return { tool: 'read_file', args: { path }, text: cut(text) }
  })
}

function search(): Bare[] {
  const pattern = /^export (async )?function \w+/
  const matches = entriesOf('src')
    .filter(({ name }) => name.endsWith('.ts'))
    .flatMap(({ name }) => {
      const lines = readFileSync(join(ROOT, 'src', name), 'utf8').split('\n')
      return lines.flatMap((text, at) =>
        pattern.test(text) ? [{ file: `src/${name}`, line: at + 1, text }] : [],
      )
    })
  const args = { pattern: pattern.source }
  const lines = matches.map(({ file, line, text }) => `${file}:${line}:${text}`)
  const none = matches.filter(({ text }) => text.includes('no such name'))
  return [
    { tool: 'search', args, text: json({ total: matches.length, truncated: false, matches }) },
    { tool: 'search', args: { ...args, as: 'text' }, text: lines.join('\n') },
    { tool: 'search', args: { pattern: 'no such name' }, text: json(none) },
  ]
}

function packages(notes: string[]): Bare[] {
  const { stdout, stderr } = run('npm', ['ls', '--json', '--all', '--loglevel=silly'])
  if (stdout === '') notes.push('npm is not on PATH: the results of npm are left out')
  const results: Bare[] = [
    { tool: 'npm_ls', text: stdout },
    { tool: 'npm_log', text: cut(stderr) },
    ...manifests('package.json', 'node_modules/hono/package.json'),
    { tool: 'lock_file', text: lockExcerpt() },
  ]
  return results.filter(({ text }) => text !== '')
}

function manifests(...paths: string[]): Bare[] {
  return paths.map(path => ({
    tool: 'read_manifest',
    args: { path },
    text: readFileSync(join(ROOT, path), 'utf8'),
  }))
}

function lockExcerpt(): string {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity?: string; dev?: boolean }>
  }
  const entries = Object.entries(lock.packages).filter(([path]) => path !== '')
  return json(
    entries.slice(0, 50).map(([path, { version, integrity = null, dev = false }]) => {
      return { path, version, integrity, dev }
    }),
  )
}

function change(): Bare[] {
  const diff = git('show', '--format=medium', 'HEAD')
  return diff === null ? [] : [{ tool: 'git_show', args: { rev: 'HEAD' }, text: cut(diff) }]
}

/** Small and awkward ones: settings, an error, nothing, prose. */
function oddments(): Bare[] {
  const settings = {
    ...process.versions,
    platform: platform(),
    release: release(),
    arch: arch(),
    cores: availableParallelism(),
    memory_bytes: totalmem(),
    uptime_s: process.uptime(),
  }
  return [
    { tool: 'get_settings', text: json(settings) },
    { tool: 'read_file', args: { path: 'no/such/file' }, text: readError(), is_error: true },
    { tool: 'run_command', args: { command: 'true' }, text: '' },
    {
      tool: 'read_text',
      args: { path: 'LICENSE' },
      text: readFileSync(join(ROOT, 'LICENSE'), 'utf8'),
    },
  ]
}

function readError(): string {
  try {
    return readFileSync('no/such/file', 'utf8')
  } catch (error) {
    return String(error)
  }
}

async function fromService(
  log: string,
  get: (path: string) => Promise<string>,
  notes: string[],
): Promise<Bare[]> {
  if (log === '') notes.push('the service runs elsewhere: its log is left out')
  return [
    ...(log === '' ? [] : [{ tool: 'service_log', text: cut(log) }]),
    { tool: 'http_get', args: { path: '/openapi.json' }, text: await get('/openapi.json') },
    { tool: 'http_get', args: { path: '/metrics' }, text: await get('/metrics') },
  ]
}

/** Standard output without its last newline, or `null` without git, a repository or a commit. */
function git(...args: string[]): string | null {
  const { status, stdout } = run('git', ['--no-pager', ...args])
  return status === 0 && stdout !== '' ? stdout.trimEnd() : null
}

function run(command: string, args: readonly string[]) {
  const options = { cwd: ROOT, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const { status, stdout, stderr } = spawnSync(command, args, options)
  // All three are null where the command is not there.
  return { status, stdout: stdout ?? '', stderr: stderr ?? '' }
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2)
}

/** A JSON number in exactly this spelling; types do not know `JSON.rawJSON` yet. */
function number(spelling: string): unknown {
  return (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(spelling)
}

function cut(text: string): string {
  return text.length <= MAX_CHARS ? text : text.slice(0, text.lastIndexOf('\n', MAX_CHARS) + 1)
}
