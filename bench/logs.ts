import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Measured, measureAll, type Sample } from '../src/cli/bench/measure.ts'
import { samplesOfCorpus } from '../src/cli/bench/samples.ts'
import { percent } from '../src/cli/table.ts'
import { mineTemplates } from '../src/core/formats/text/templated/line-templates.ts'
import { decodeContent } from '../src/core/pipeline/decode.ts'
import { bodyOf } from '../src/core/verify/answer-body.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { plant, skeletonOf } from './logs/planted.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'

/**
 * npm run bench -- logs CORPUS [--families FOLDER]
 *
 * What logs, shell output and diffs cost without loss and with elision: every rest is decoded, every
 * marker redeemed. Failures in words that the service does not know are planted, and looked for in
 * what is left. `--families` names a folder with one log a file, of which the first 1,000 lines
 * count. Its files are split by halves of their names' hash, as the corpus is.
 */
const options = readOptions({ corpus: REQUIRED, families: '' })
const context = createLocalContext()

const FAMILY_LINES = 1_000
const LEAST_SHELL_CHARS = 2_048
const MEGABYTE = 1e6

function groupOf({ group, name, request: { content } }: Sample): string | null {
  if (/-logs$|^diffs/.test(group)) return group
  if (group !== 'sessions' || !/^bash-/i.test(name)) return null
  return content.length >= LEAST_SHELL_CHARS ? 'shell output' : null
}

/** Which half of all families a log belongs to: by its name alone, so that it never changes. */
function halfOf(name: string): string {
  let hash = 7
  for (const c of name) hash = (hash * 31 + c.charCodeAt(0)) % 1_000_003
  return hash % 2 === 0 ? 'first half' : 'second half'
}

function families(folder: string): readonly Sample[] {
  if (folder === '') return []
  return readdirSync(folder).map(name => {
    const text = readFileSync(join(folder, name), 'utf8')
    const content = text.split(/\r?\n/).slice(0, FAMILY_LINES).join('\n')
    return { name, group: 'families', kind: 'log', request: { content }, critical: [] }
  })
}

function decodedRest({ answer }: Measured): string | null {
  const body = bodyOf(answer)
  return body && decodeContent(body.content, body.format, Infinity).content
}

function savings(measured: readonly Measured[], keyOf: (each: Measured) => string): string {
  const groups = Map.groupBy(measured, keyOf)
  const rows = [...groups].map(([name, all]) => {
    const sum = (of: (each: Measured) => number) => all.reduce((total, each) => total + of(each), 0)
    const tokens = sum(({ answer }) => answer.tokens.baseline)
    const markers = all.filter(({ restored }) => restored !== null)
    return [
      name,
      all.length,
      tokens,
      percent(tokens - sum(({ lossless }) => lossless), tokens),
      percent(tokens - sum(({ answer }) => answer.tokens.final), tokens),
      all.filter(each => decodedRest(each) !== null).length,
      `${markers.filter(({ restored }) => restored === true).length}/${markers.length}`,
    ]
  })
  const header = ['texts', 'tokens', 'lossless', 'elided', 'decoded', 'redeemed']
  return markdownTable(['of', ...header], rows)
}

/** Planted failures, and those of them that are left. */
async function judge(logs: readonly Sample[]): Promise<string> {
  const planted = logs.map(({ request }, at) => plant(request.content, at + 1))
  const samples = logs.map((log, at) => {
    const request = { ...log.request, content: planted[at]!.text }
    return { ...log, kind: 'log' as const, request, critical: [] }
  })
  const measured = await measureAll(samples, context, () => {})
  let shown = 0
  let sought = 0
  measured.forEach((each, at) => {
    if (each.answer.lossless) return
    const left = new Set((decodedRest(each) ?? '').split('\n').map(skeletonOf))
    for (const line of planted[at]!.lines) {
      sought++
      if (left.has(skeletonOf(line))) shown++
    }
  })
  return `Failures planted in unknown words, in logs that were elided: ${shown} of ${sought} are left.`
}

function speed(logs: readonly Sample[]): string {
  const lines = logs.flatMap(({ request }) => request.content.split('\n'))
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0)
  const before = process.cpuUsage().user
  const { facts } = mineTemplates(lines)
  const seconds = (process.cpuUsage().user - before) / 1e6
  const mb = bytes / MEGABYTE
  return `${facts.length} templates of ${mb.toFixed(1)} MB: ${(mb / seconds).toFixed(0)} MB/s.`
}

const all = [
  ...samplesOfCorpus(options.corpus).filter(sample => groupOf(sample) !== null),
  ...families(options.families),
]
const measured = await measureAll(all, context, () => {})
const isLog = ({ group }: Sample) => group === 'families' || group.endsWith('-logs')
const logs = all.filter(isLog)
const { node, cores, cpu, date } = machine()
process.stdout.write(
  `${[
    `Node ${node}, ${cores} cores, ${cpu}, ${date}; tokens of o200k_base.`,
    savings(measured, ({ sample }) => groupOf(sample) ?? sample.group),
    savings(
      measured.filter(({ sample }) => isLog(sample)),
      ({ sample }) => halfOf(sample.name),
    ),
    await judge(logs),
    speed(logs),
  ].join('\n\n')}\n`,
)
