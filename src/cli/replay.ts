import { existsSync } from 'node:fs'
import { EXIT } from '../exit-codes.ts'
import { explain } from '../index.ts'
import { type Command, text, UsageError } from './command.ts'
import { tokenizerFieldsOf, tokenizerOptions } from './options.ts'
import { createProgress } from './progress.ts'
import { inProcessPlayer, play, requestOf, servicePlayer } from './replay/player.ts'
import { readResults } from './replay/read-results.ts'
import { createTally, DIMENSIONS, type Sums, type Tally } from './replay/tally.ts'
import { createVerdictTally, VERDICTS, type VerdictTally } from './replay/verdicts.ts'
import { percent, table } from './table.ts'

/** Most rows of a group that the tables show; `--json` has them all. */
const MAX_ROWS = 15

export const replayCommand: Command = {
  name: 'replay',
  summary:
    'Play recorded tool results, decode every answer, and sum up the savings. DIR holds .jsonl files ' +
    'with a result ({"tool", "text", …}) a line, or plain files, each a result of the tool that its folder names',
  operands: 'DIR|FILE',
  maxOperands: 1,
  options: {
    url: { type: 'string', value: 'URL', help: 'Play against a running service' },
    ...tokenizerOptions,
    explain: { type: 'boolean', help: 'Count what became of every candidate, by format' },
    json: { type: 'boolean', help: 'Print all sums as JSON' },
  },
  async run(values, [path]) {
    if (path === undefined) throw new UsageError('DIR or FILE is required')
    if (!existsSync(path)) throw new UsageError(`there is no ${path}`)
    const url = text(values, 'url')
    const verdicts = values['explain'] === true ? createVerdictTally() : null
    if (verdicts !== null && url !== undefined) {
      throw new UsageError('--explain looks into this process; it does not go with --url')
    }
    const player = url === undefined ? inProcessPlayer() : servicePlayer(url)
    const { results, skipped } = readResults(path)
    for (const { file, reason } of skipped) process.stderr.write(`skipped ${file}: ${reason}\n`)
    const tally = createTally()
    const progress = createProgress('replay', results.length)
    const tokenizer = tokenizerFieldsOf(values)
    // Options that are wrong and a service that is not there fail here, once for all results.
    const { tokens } = await player.encode({ content: '', ...tokenizer })
    for (const [index, result] of results.entries()) {
      try {
        tally.add(await play(result, player, tokenizer))
        verdicts?.add(explain(requestOf(result, tokenizer)))
      } catch (error) {
        // One result that is refused says nothing of the others.
        tally.failed++
        const reason = error instanceof Error ? error.message : String(error)
        process.stderr.write(`failed: result ${index + 1} (${result.tool}): ${reason}\n`)
      }
      progress.advance()
    }
    progress.done()
    const print = values['json'] === true ? toJson : toTables
    process.stdout.write(print(tally, tokens.tokenizer, verdicts))
    const { total, failed } = tally
    return failed === 0 && total.restored === total.results ? EXIT.ok : EXIT.failed
  },
}

function toJson(
  { total, failed, by }: Tally,
  tokenizer: string,
  verdicts: VerdictTally | null,
): string {
  const groups = Object.fromEntries(DIMENSIONS.map(name => [name, Object.fromEntries(by[name])]))
  const candidates = verdicts && { candidates: Object.fromEntries(verdicts.byFormat) }
  const baseline = 'the input as it came'
  const sums = { tokenizer, baseline, total, failed, ...groups, ...candidates }
  return `${JSON.stringify(sums)}\n`
}

function toTables(
  { total, failed, by }: Tally,
  tokenizer: string,
  verdicts: VerdictTally | null,
): string {
  const parts = DIMENSIONS.map(name => {
    const groups = [...by[name]].sort(([, a], [, b]) => b.tokens_in - a.tokens_in)
    const rows = groups.slice(0, MAX_ROWS).map(([key, sums]) => row(key, sums))
    const cut = groups.length - rows.length
    return `${table(header(name), rows)}${cut > 0 ? `\n… and ${cut} more (--json)` : ''}`
  })
  if (verdicts !== null) parts.push(toVerdictTable(verdicts))
  const title = `Tokens in ${tokenizer}; the baseline is the input as it came.`
  parts.push(table(header('total'), [row('all', total)]))
  if (failed > 0) parts.push(`Failed, and in no sum: ${failed}.`)
  return `${[title, ...parts].join('\n\n')}\n`
}

function toVerdictTable({ byFormat }: VerdictTally): string {
  const rows = [...byFormat]
    .sort(([, a], [, b]) => b.sent - a.sent)
    .map(([format, counts]) => [format, ...VERDICTS.map(verdict => counts[verdict])])
  return table(['candidates', ...VERDICTS], rows)
}

function header(name: string): string[] {
  return [name, 'results', 'tokens in', 'tokens out', 'saved', 'decoded']
}

function row(key: string, { results, tokens_in, tokens_out, restored }: Sums): (string | number)[] {
  const saved = percent(tokens_in - tokens_out, tokens_in)
  return [key, results, tokens_in, tokens_out, saved, `${restored}/${results}`]
}
