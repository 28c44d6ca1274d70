import { withoutNumber } from '../../core/formats/gutter/numbered-lines.ts'
import type { RecordedResult } from './conversation.ts'
import type { PlayedResult } from './play.ts'
import { quotedLines, writtenTexts } from './quoted-lines.ts'

/** A result whose hidden part a later edit quotes. */
export interface Need {
  /** Place of the result whose parts were left out, and of the edit. */
  readonly result: number
  readonly edit: number
  /** The line that is quoted. */
  readonly line: string
}

/** Shorter lines are in many files: brackets, `return nil`. */
const MIN_CHARS = 12
/** A line of source has one; rulers and brackets have none. */
const WORD = /[A-Za-z_]{3}/
const FILE_ARGUMENT = /^(?:file_?path|path|file|filename|notebook_path)$/i

/**
 * Results of which parts would have been left out, and were needed: a line that would have been
 * hidden is quoted by a later edit of the same context, and nothing else showed it to the agent. A
 * lower bound, since an agent may need what it does not quote. Edits that failed prove nothing.
 * Each result has its first need only.
 * @param played the same results, played with parts left out
 */
export function findNeeds(
  results: readonly RecordedResult[],
  played: readonly PlayedResult[],
): readonly Need[] {
  const needs: Need[] = []
  const contexts = new Map<string, Context>()
  for (const [at, result] of results.entries()) {
    const key = JSON.stringify([result.agent, result.epoch])
    const context: Context = contexts.get(key) ?? {
      ...{ hidden: new Map(), texts: [], needed: new Set() },
    }
    contexts.set(key, context)
    const quoted = result.isError ? [] : quotedLines(result.args)
    if (quoted.length > 0) {
      for (const need of needsOf(quoted, result.args, context)) needs.push({ ...need, edit: at })
    }
    context.texts.push(...writtenTexts(result.args).map(squash), squash(seen(result, played[at])))
    hide(at, result, played[at], context)
  }
  return needs
}

interface Hidden {
  readonly result: number
  readonly of: RecordedResult
}

interface Context {
  /** By line, the newest result that hides it. */
  readonly hidden: Map<string, Hidden>
  /** All that the agent was shown, or wrote, with single spaces. */
  readonly texts: string[]
  readonly needed: Set<number>
}

function needsOf(
  quoted: readonly string[],
  args: unknown,
  { hidden, texts, needed }: Context,
): readonly Omit<Need, 'edit'>[] {
  const file = fileOf(args)
  const found: Omit<Need, 'edit'>[] = []
  for (const line of quoted) {
    const from = hidden.get(line)
    if (from === undefined || needed.has(from.result)) continue
    if (file !== null && !isAbout(from.of, file)) continue
    const squashed = squash(line)
    if (texts.some(text => text.includes(squashed))) continue
    needed.add(from.result)
    found.push({ result: from.result, line })
  }
  return found
}

/** Formatters align columns, so that the same line has other spaces at another place. */
function squash(text: string): string {
  return text.replace(/\s+/g, ' ')
}

function seen({ text }: RecordedResult, played: PlayedResult | undefined): string {
  return played?.shown ?? text
}

function hide(
  at: number,
  result: RecordedResult,
  played: PlayedResult | undefined,
  { hidden }: Context,
): void {
  const shown = played?.shown
  if (shown === undefined) return
  for (const raw of result.text.split('\n')) {
    const line = withoutNumber(raw).trim()
    if (line.length < MIN_CHARS || !WORD.test(line) || shown.includes(line)) continue
    hidden.set(line, { result: at, of: result })
  }
}

/** The last part of the path that a call names; `null` if it names none. */
function fileOf(args: unknown): string | null {
  if (typeof args !== 'object' || args === null) return null
  for (const [name, value] of Object.entries(args)) {
    if (FILE_ARGUMENT.test(name) && typeof value === 'string') {
      return value.split(/[\\/]/).at(-1) || null
    }
  }
  return null
}

/** Whether a result shows a file of that name: its call or its text has it. */
function isAbout({ args, text }: RecordedResult, file: string): boolean {
  return (JSON.stringify(args) ?? '').includes(file) || text.includes(file)
}
