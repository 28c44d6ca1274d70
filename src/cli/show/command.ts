import type { FoundTexts } from '../../book/rows/kept-texts.ts'
import { processEnv } from '../../config/env.ts'
import { CONTENT_DEPTH } from '../../config/fixed-limits.ts'
import { loadConfig } from '../../config/load.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { type Line, lookOf, paint } from '../../console/paint.ts'
import { AppError } from '../../core/base/errors.ts'
import { visible } from '../../core/base/visible.ts'
import type { ShowAnswer } from '../../core/operations/show-result.ts'
import { decodeContent } from '../../core/pipeline/decode.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { getCommand, getOptions } from '../get/command.ts'
import { checkOptions, proxyCommand } from '../proxy/command.ts'
import type { FoundResult } from './find-texts.ts'

/** A number of the ledger. An original's hash has at least 8 digits. */
const RESULT = /^\d{1,7}$/
const HASH = /^[0-9a-f]{8,64}$/i
const NOT_KEPT =
  'no text of a result is kept here: haversack run keeps them for 7 days, services do with ' +
  'ui.keep_texts = "on"'

export const showCommand = defineCommand({
  name: 'show',
  details:
    'last: the latest result that became smaller, of the ledger of this user; ID: another one. ' +
    'HASH: a kept original, from a running service. --check: what a proxy would do with a request.',
  examples: ['show', 'show 41 --after', 'show 9f2c41aa0b7d4c11', 'show --check request.json'],
  operands: '[last|ID|HASH]',
  maxOperands: 1,
  options: {
    before: { type: 'boolean', help: 'Only what the tool gave' },
    after: { type: 'boolean', help: 'Only what the model read; with --check: print the new texts' },
    ...checkOptions,
    ...getOptions,
  },
  async run(values, [named = 'last']) {
    const { check, after } = values
    if (check !== undefined) return proxyCommand.run({ ...values, show: after }, [])
    if (HASH.test(named)) return getCommand.run(values, [named])
    if (named !== 'last' && !RESULT.test(named)) {
      throw new UsageError(
        `"${visible(named)}" names no result: give last, the number of a result, or ` +
          'the hash of a kept original (8 to 64 hex digits)',
      )
    }
    if (values.before && after) throw new UsageError('take --before or --after')
    return showResult(named === 'last' ? null : Number(named), values)
  },
})

async function showResult(
  id: number | null,
  { before, after, json }: { before: boolean; after: boolean; json: boolean },
): Promise<number> {
  const { findTexts } = await import('./find-texts.ts')
  const { checkSent } = await import('../../core/operations/show-result.ts')
  const env = processEnv()
  const config = loadConfig({ env, insecure: true })
  const found = findTexts(config, id, Date.now())
  if (found === null) {
    if (json) print(JSON.stringify({ outcome: 'not_found', detail: NOT_KEPT }))
    else process.stderr.write(`haversack: not_found: ${NOT_KEPT}\n`)
    return EXIT.failed
  }
  const { texts, result } = found
  if (before || after) {
    const text = before ? texts.before : texts.after
    // A terminal would obey what is in it.
    process.stdout.write(process.stdout.isTTY ? `${visible(text)}\n` : text)
    return EXIT.ok
  }
  const limits = { maxDecodedChars: config.limits.max_body_bytes, maxDepth: CONTENT_DEPTH }
  const { before: content, after: sent, format, earlier } = texts
  const check = checkSent(content, { content: sent, format, earlier }, limits)
  if (json) {
    const about = { id: result.id, tool: result.tool, tokens: result.before, format, check }
    print(JSON.stringify({ outcome: 'ok', ...about, before: content, after: sent }))
  } else {
    const look = lookOf(env, process.stdout)
    print(
      showScreen(found, check)
        .map(line => paint(line, look))
        .join('\n'),
    )
  }
  return check === 'differs' ? EXIT.failed : EXIT.ok
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

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
function showScreen({ result, texts }: FoundResult, check: ShowAnswer['check']): Line[] {
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
