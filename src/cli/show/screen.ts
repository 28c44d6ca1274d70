import type { FoundTexts } from '../../book/rows/kept-texts.ts'
import type { Line } from '../../console/paint.ts'
import { AppError } from '../../core/base/errors.ts'
import { visible } from '../../core/base/visible.ts'
import type { ShowAnswer } from '../../core/operations/show-result.ts'
import { decodeContent } from '../../core/pipeline/decode.ts'
import type { FoundResult } from './find-texts.ts'

/** What a line of ours begins with: a reference, or what was left out. */
const HINT = '> ['
/** References whose lines are shown. */
const MOST_POINTED = 100
/** Lines that are shown of what a reference points at: so many first ones, and the last. */
const FIRST_LINES = 3

const CHECKS: Readonly<Record<ShowAnswer['check'], Line>> = {
  same: [['good', 'decoded just now: it gives the original']],
  parts: ['Parts are left out, which can be fetched; so it does not decode as a whole.'],
  unknown: ['It refers to results that are not kept, so it cannot be decoded here.'],
  differs: [['bad', 'decoded just now: it does NOT give the original. Please report this.']],
}

/** Both sides of a result, and whether the second gives the first. */
export function showScreen({ result, texts }: FoundResult, check: ShowAnswer['check']): Line[] {
  const { before, referred, encoded, omitted } = result
  const after = before - referred - encoded - omitted
  const isSame = texts.after === texts.before
  const share = before === after ? '' : ` (${percentOf(after - before, before)})`
  const time = new Date(result.at).toISOString().slice(0, 16).replace('T', ' ')
  return [
    [
      ['strong', visible(result.tool ?? '(no tool named)')],
      `  ${count(before)} → ${count(after)} tokens${share}  `,
      ['dim', `${time} UTC, by ${result.source}, result ${result.id}`],
    ],
    [],
    [['strong', 'What the tool gave']],
    ...linesOf(texts.before),
    [],
    [['strong', 'What the model read']],
    ...(isSame ? [[['dim', '(the same)'] as const]] : sentLines(texts)),
    [],
    isSame ? ['It was sent as it came.'] : CHECKS[check],
  ]
}

function linesOf(text: string): Line[] {
  return visible(text)
    .split('\n')
    .map(line => [line])
}

/** The text as it was sent: what its references point at is below each. */
function sentLines(texts: FoundTexts): Line[] {
  const lines = texts.after.split('\n')
  let pointed = 0
  return lines.flatMap((line, at): Line[] => {
    if (!line.startsWith(HINT)) return [[visible(line)]]
    const target = pointed++ < MOST_POINTED ? targetOf(texts, lines, at) : []
    return [[['ref', visible(line)]], ...target.map(each => [['dim', `  ${each}`]] as const)]
  })
}

/** The first lines that a reference represents, and the last one. */
function targetOf(texts: FoundTexts, lines: readonly string[], at: number): string[] {
  const [upTo, before] = [at + 1, at].map(end => decodedLines(texts, lines.slice(0, end)))
  if (upTo === null || upTo === undefined) return []
  const all = upTo.slice(at === 0 ? 0 : (before ?? []).length).map(visible)
  if (all.length <= FIRST_LINES + 2) return all
  const left = all.length - FIRST_LINES - 1
  return [...all.slice(0, FIRST_LINES), `… ${count(left)} more lines …`, all.at(-1) as string]
}

/** `null`: these lines alone do not decode. */
function decodedLines(
  { format, earlier }: FoundTexts,
  lines: readonly string[],
): readonly string[] | null {
  try {
    const most = Object.values(earlier).reduce((sum, text) => sum + text.length, 0)
    const text = lines.join('\n')
    return decodeContent(text, format, most + text.length, ref => earlier[ref]).content.split('\n')
  } catch (error) {
    if (error instanceof AppError) return null
    throw error
  }
}

function count(value: number): string {
  return value.toLocaleString('en-US')
}

function percentOf(part: number, whole: number): string {
  const share = (100 * part) / whole
  return `${share < 0 ? '−' : '+'}${Math.abs(share).toFixed(1)} %`
}
