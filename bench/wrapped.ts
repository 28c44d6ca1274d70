import { isDeepStrictEqual } from 'node:util'
import { type RecordedResult, readResults } from '../src/cli/replay/read-results.ts'
import { decodeOperation } from '../src/core/operations/decode.ts'
import { encodeOperation } from '../src/core/operations/encode.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { createLocalSessions, type LocalSessions } from '../src/runtime/local-sessions.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { median } from './support/statistics.ts'
import { writeSection } from './support/write-section.ts'

/**
 * npm run bench -- wrapped CORPUS [--every N --rounds N --write]
 *
 * What the JSON around a text costs: recorded texts bare, as MCP results and as output of a shell
 * tool. Every Nth long text by itself, lossless and in mode `elide`, with the time of the lossless
 * text; and all results in their sessions. Each lossless answer is decoded and compared.
 */
const options = readOptions({ corpus: REQUIRED, every: 9, rounds: 5, write: false })

const SESSION_BYTES = 1 << 28
const LEAST_BYTES = 2_048
const LEAST_LINES = 5

type Wrap = (text: string, at: number) => string

const WAYS: Readonly<Record<string, Wrap>> = {
  bare: text => text,
  MCP: text => JSON.stringify({ content: [{ type: 'text', text }], isError: false }),
  shell: (stdout, at) =>
    JSON.stringify({ stdout, stderr: '', exit_code: 0, duration_ms: 100 + ((at * 7_919) % 9_000) }),
}

const context = { ...createLocalContext(), keepsOriginals: true }

interface Sums {
  before: number
  lossless: number
  elided: number
  faults: number
}

function isText({ text }: RecordedResult): boolean {
  const isLong = text.length >= LEAST_BYTES && text.split('\n').length >= LEAST_LINES
  return isLong && parsed(text) === undefined
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Whether an answer decoded to the value, or the text, that went in. */
function isSame(content: string, decoded: string): boolean {
  if (decoded === content) return true
  const value = parsed(content)
  return value !== undefined && isDeepStrictEqual(parsed(decoded), value)
}

function byThemselves(contents: readonly string[]): Sums {
  const sums = { before: 0, lossless: 0, elided: 0, faults: 0 }
  for (const content of contents) {
    const { answer } = encodeOperation.run({ content }, context)
    const elided = encodeOperation.run(
      { content, mode: 'elide', min_saved_tokens: 0 },
      context,
    ).answer
    sums.before += answer.tokens.baseline
    sums.lossless += answer.tokens.final
    sums.elided += elided.tokens.final
    const decoded = decodeOperation.run(answer, context).answer.content
    if (!isSame(content, decoded)) sums.faults++
  }
  return sums
}

/** Milliseconds of processor time for all of them. */
function encodeMs(contents: readonly string[]): number {
  const start = process.cpuUsage()
  for (const content of contents) encodeOperation.run({ content }, context)
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1_000
}

/** Each way's time over that of the first one: the median of rounds in which they take turns. */
function timesOf(contents: Readonly<Record<string, readonly string[]>>): Map<string, number> {
  const names = Object.keys(contents)
  const ratios = new Map<string, number[]>(names.map(name => [name, []]))
  for (const name of names) encodeMs(contents[name]!)
  for (let round = 0; round < options.rounds; round++) {
    const ms = names.map(name => encodeMs(contents[name]!))
    for (const [at, name] of names.entries()) ratios.get(name)!.push(ms[at]! / ms[0]!)
  }
  return new Map([...ratios].map(([name, all]) => [name, median(all)]))
}

function inSessions(results: readonly RecordedResult[], wrap: Wrap): Omit<Sums, 'elided'> {
  const sessions = createLocalSessions(createLocalContext(), { bodyBytes: SESSION_BYTES })
  const sums = { before: 0, lossless: 0, faults: 0 }
  for (const [at, { text, tool, session }] of results.entries()) {
    const content = wrap(text, at)
    const named = session === undefined ? {} : { session }
    const answer = sessions.encode({ content, tool, ...named })
    sums.before += answer.tokens.baseline
    sums.lossless += answer.tokens.final
    if (!isSame(content, decodedIn(sessions, answer, named))) sums.faults++
  }
  return sums
}

function decodedIn(
  sessions: LocalSessions,
  { content, format }: { readonly content: string; readonly format: string },
  named: { readonly session?: string },
): string {
  return sessions.decode({ content, format, ...named }).content
}

const { results } = readResults(options.corpus)
const texts = results.filter(isText).filter((_, at) => at % options.every === 0)
const contents = Object.fromEntries(
  Object.entries(WAYS).map(([name, wrap]) => [name, texts.map(({ text }, at) => wrap(text, at))]),
)
const alone = Object.entries(contents).map(([name, all]) => [name, byThemselves(all)] as const)
const times = timesOf(contents)
const played = Object.entries(WAYS).map(
  ([name, wrap]) => [name, inSessions(results, wrap)] as const,
)

const over = (tokens: number, bare: number) => (tokens / bare).toFixed(3)
const saved = (after: number, before: number) => `${(100 - (100 * after) / before).toFixed(1)} %`
const bareAlone = alone[0]![1]
const barePlayed = played[0]![1]
const report = [
  `${JSON.stringify(machine())}; ${texts.length} texts of ${LEAST_BYTES.toLocaleString('en-US')} characters and more by themselves, ${results.length} results in sessions.`,
  markdownTable(
    [
      'by themselves',
      'tokens',
      'lossless',
      'elided',
      'lossless ÷ bare',
      'elided ÷ bare',
      'time ÷ bare',
      'not decoded',
    ],
    alone.map(([name, { before, lossless, elided, faults }]) => [
      name,
      before,
      saved(lossless, before),
      saved(elided, before),
      over(lossless, bareAlone.lossless),
      over(elided, bareAlone.elided),
      times.get(name)!.toFixed(2),
      faults,
    ]),
  ),
  markdownTable(
    ['in sessions', 'tokens', 'lossless', '÷ bare', 'not decoded'],
    played.map(([name, { before, lossless, faults }]) => [
      name,
      before,
      saved(lossless, before),
      over(lossless, barePlayed.lossless),
      faults,
    ]),
  ),
].join('\n\n')
if (options.write) writeSection('wrapped', report)
else process.stdout.write(`${report}\n`)
process.exitCode = [...alone, ...played].every(([, { faults }]) => faults === 0) ? 0 : 1
