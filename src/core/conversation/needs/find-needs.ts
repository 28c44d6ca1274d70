import { withoutNumber } from '../../formats/gutter/numbered-lines.ts'
import { quotedLines, writtenTexts } from './edit-quotes.ts'

/** A result whose hidden part a later edit quotes. */
export interface Need {
  /** Place of the result whose parts were left out, and of the edit. */
  readonly result: number
  readonly edit: number
  /** The line that is quoted. */
  readonly line: string
}

/** A result with its call, as the agent had it. */
export interface SeenResult {
  /** Results of one context are in one prompt. */
  readonly context: string
  readonly isError: boolean
  args(): unknown
  /** As the tool gave it. */
  text(): string
  /** What the agent sees of it, if parts were left out; `undefined`: all of it. */
  shown(): string | undefined
}

/** Shorter lines are in many files: brackets, `return nil`. */
const MIN_CHARS = 12
/**
 * Lines of one edit that are searched for in all texts. An edit that quotes more of what something
 * else shows is a copy, and would cost the product of both.
 */
const MOST_SEARCHED = 100
/** A line of source has one; rulers and brackets have none. */
const WORD = /[A-Za-z_]{3}/
const FILE_ARGUMENT = /^(?:file_?path|path|file|filename|notebook_path)$/i

/**
 * Results of which parts were left out, and were needed: a line that was hidden is quoted by a
 * later edit of the same context, and nothing else showed it to the agent. A lower bound, since an
 * agent may need what it does not quote. Edits that failed prove nothing. Each result has its first
 * need only.
 */
export function findNeeds(results: readonly SeenResult[]): readonly Need[] {
  const needs: Need[] = []
  const contexts = new Map<string, Context>()
  const quotes = results.map(each => (each.isError ? [] : quotedLines(each.args())))
  const wanted = new Set(quotes.flat())
  for (const [at, result] of results.entries()) {
    const context: Context = contexts.get(result.context) ?? {
      hidden: new Map(),
      texts: [],
      unread: [],
      needed: new Set(),
    }
    contexts.set(result.context, context)
    if (context.hidden.size > 0 && quotes[at]!.length > 0) {
      for (const need of needsOf(quotes[at]!, result.args(), context)) {
        needs.push({ ...need, edit: at })
      }
    }
    context.unread.push(() => [...writtenTexts(result.args()), result.shown() ?? result.text()])
    if (wanted.size > 0) hide(at, result, context, wanted)
  }
  return needs
}

interface Hidden {
  readonly result: number
  readonly of: SeenResult
}

interface Context {
  /** By line, the newest result that hides it. */
  readonly hidden: Map<string, Hidden>
  /** All that the agent was shown, or wrote, with single spaces. */
  readonly texts: string[]
  /** The same, not looked at yet: few edits quote what was hidden. */
  readonly unread: (() => readonly string[])[]
  readonly needed: Set<number>
}

function needsOf(
  quoted: readonly string[],
  args: unknown,
  context: Context,
): readonly Omit<Need, 'edit'>[] {
  const { hidden, needed } = context
  const file = fileOf(args)
  const found: Omit<Need, 'edit'>[] = []
  let searched = 0
  for (const line of quoted) {
    const from = hidden.get(line)
    if (from === undefined || needed.has(from.result)) continue
    if (file !== null && !isAbout(from.of, file)) continue
    searched++
    if (searched > MOST_SEARCHED) break
    if (isShown(squash(line), context)) continue
    needed.add(from.result)
    found.push({ result: from.result, line })
  }
  return found
}

function isShown(squashed: string, { texts, unread }: Context): boolean {
  for (const read of unread.splice(0)) for (const text of read()) texts.push(squash(text))
  return texts.some(text => text.includes(squashed))
}

/** Formatters align columns, so that the same line has other spaces at another place. */
function squash(text: string): string {
  return text.replace(/\s+/g, ' ')
}

/** Remembers the hidden lines that some edit quotes. */
function hide(
  at: number,
  result: SeenResult,
  { hidden }: Context,
  wanted: ReadonlySet<string>,
): void {
  const shown = result.shown()
  if (shown === undefined) return
  for (const raw of result.text().split('\n')) {
    const line = withoutNumber(raw).trim()
    if (!wanted.has(line) || line.length < MIN_CHARS) continue
    if (!WORD.test(line) || shown.includes(line)) continue
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
function isAbout(result: SeenResult, file: string): boolean {
  return (JSON.stringify(result.args()) ?? '').includes(file) || result.text().includes(file)
}
