import { didYouMean } from '../../config/nearest-name.ts'
import {
  defineCommand,
  type Options,
  type Refuse,
  UsageError,
  type ValuesOf,
} from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import {
  budgetFieldsOf,
  budgetOptions,
  itemFieldsOf,
  itemOptions,
  jsonOption,
  tokenizerFieldsOf,
  tokenizerOptions,
} from '../../console/options.ts'
import { namedService, type ServiceClient, serviceOptions } from '../../console/service-client.ts'
import { percent, table } from '../../console/table.ts'
import { validate } from '../../core/contract/validate.ts'
import { encodeOperation } from '../../core/operations/encode.ts'
import { type Explanation, explainContent } from '../../core/pipeline/explain.ts'
import { FORMAT_NAMES, KNOWN_FORMATS } from '../../core/pipeline/layers.ts'
import type { EncodeAnswer, EncodeRequest } from '../../index.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const options = {
  ...tokenizerOptions,
  formats: {
    type: 'string',
    value: 'LIST',
    help: 'Only these formats, separated by commas',
    read: readFormats,
  },
  ...budgetOptions,
  ...itemOptions,
  session: {
    type: 'string',
    value: 'ID',
    help: 'The agent context that it goes to (needs a service)',
  },
  tool: { type: 'string', value: 'NAME', help: 'The tool whose result it is' },
  ...serviceOptions,
  explain: {
    type: 'boolean',
    help: 'Show every candidate, how each part was written, and the plan of a budget',
  },
  ...jsonOption,
} as const satisfies Options

type EncodeValues = ValuesOf<typeof options>

export const encodeCommand = defineCommand({
  name: 'encode',
  examples: [
    'encode result.json',
    'encode --url http://127.0.0.1:8787 --mode elide --budget 2000 build.log',
  ],
  operands: '[FILE]',
  maxOperands: 1,
  options,
  async run(values, [file]) {
    const fields = fieldsOf(values)
    if (values.explain) return explainInput(values, { ...fields, file })
    const service = serviceFor(values)
    const request = { content: await readInput(file), ...fields }
    const answer = await (service?.post<EncodeAnswer>('/v1/encode', request) ?? encodeHere(request))
    if (values.json) {
      process.stdout.write(`${JSON.stringify(answer)}\n`)
      return EXIT.ok
    }
    process.stdout.write(answer.content)
    // A terminal shows both streams, so the last line of the text must end before the report.
    if (process.stdout.isTTY) process.stderr.write('\n')
    process.stderr.write(`${accountOf(answer)}\n`)
    return EXIT.ok
  },
})

/** By the configuration of the project that this process works in. */
function contextHere() {
  return createLocalContext({ project: process.cwd() })
}

function encodeHere(request: EncodeRequest): EncodeAnswer {
  const { answer } = encodeOperation.run(validate(encodeOperation.request, request), contextHere())
  return answer
}

async function explainInput(
  values: EncodeValues,
  { file, ...fields }: Omit<EncodeRequest, 'content'> & { file: string | undefined },
): Promise<number> {
  const elsewhere = (['url', 'session'] as const).find(name => values[name] !== undefined)
  if (elsewhere !== undefined) {
    throw new UsageError(`--explain looks into this process; it cannot be used with --${elsewhere}`)
  }
  const content = await readInput(file)
  const request = validate(encodeOperation.request, { content, ...fields })
  const explanation = explainContent({ ...request, content }, contextHere())
  const isJson = values.json
  process.stdout.write(isJson ? `${JSON.stringify(explanation)}\n` : writeExplanation(explanation))
  return EXIT.ok
}

function readFormats(given: string, refuse: Refuse): string[] {
  const formats = given.split(',')
  const unknown = formats.find(each => !KNOWN_FORMATS.has(each))
  if (unknown === undefined) return formats
  return refuse(FORMAT_NAMES.join(', ') + didYouMean(unknown, KNOWN_FORMATS))
}

/** The fields of a request that the options give. */
function fieldsOf(values: EncodeValues): Omit<EncodeRequest, 'content'> {
  const formats = values.formats
  const session = values.session
  const tool = values.tool
  return {
    ...tokenizerFieldsOf(values),
    ...budgetFieldsOf(values),
    ...itemFieldsOf(values),
    ...(formats === undefined ? {} : { formats }),
    ...(session === undefined ? {} : { session }),
    ...(tool === undefined ? {} : { tool }),
  }
}

/**
 * The service that a call uses, by `--url`. A service is needed if parts may be left out or earlier
 * results are referred to, because only a service keeps these. `undefined`: this process encodes.
 */
function serviceFor(values: EncodeValues): ServiceClient | undefined {
  const { mode = 'lossless' } = budgetFieldsOf(values)
  const reasons = [
    ...(mode === 'lossless' ? [] : [`--mode ${mode}`]),
    ...(values.session === undefined ? [] : ['--session']),
  ]
  if (reasons.length === 0 && values.url === undefined) return undefined
  const service = namedService(values)
  if (service !== undefined) return service
  throw new UsageError(
    `${reasons.join(' and ')} needs a running service, which keeps originals: name it by --url or HAVERSACK_URL`,
  )
}

/** One line with the shape, the format, the savings by their source, and the hints. */
function accountOf({ shape, layer, format, tokens, savings, hints }: EncodeAnswer): string {
  const { dedup_tokens, encoder_tokens, elided_tokens } = savings
  const counted = `${tokens.tokenizer}${tokens.exact ? '' : ', estimated'}`
  const saved = `dedup ${dedup_tokens}, encoder ${encoder_tokens}, omission ${elided_tokens}`
  const families = [...new Set(hints.map(({ family }) => family))]
  const hinted = families.length === 0 ? '' : `; hints: ${families.join(', ')}`
  return (
    `${shape}, ${layer}, format ${format}: ${tokens.baseline} → ${tokens.final} tokens ` +
    `(${counted}); saved: ${saved}${hinted}`
  )
}

/** Rows of a table at most: a value of a thousand objects has as many decisions. */
const MOST_ROWS = 60

/**
 * Writes the shape, the result for each candidate, how parts were written, and what a budget leaves
 * out.
 */
export function writeExplanation(explanation: Explanation): string {
  const { shape, inner_formats, tokenizer } = explanation
  const inner = inner_formats.length === 0 ? '' : ` with ${inner_formats.join(', ')}`
  const sections = [
    `${shape}${inner}, tokens in ${tokenizer}`,
    candidatesTable(explanation),
    ...(explanation.parts.length === 0 ? [] : [partsTable(explanation)]),
    ...(explanation.plan === null ? [] : [planText(explanation, explanation.plan)]),
  ]
  return `${sections.join('\n\n')}\n`
}

function candidatesTable({ candidates, baseline, layer, plan }: Explanation): string {
  const best = plan === null ? 'sent' : 'above the budget'
  const rows = candidates.map(({ layer, format, tokens, price, constructs, verdict }) => {
    const saved = tokens === null ? '' : percent(baseline - tokens, baseline)
    const used = Object.entries(constructs).filter(([, count]) => count > 0)
    const names = used.map(([name, count]) => `${name} ×${count}`).join(', ')
    const end = verdict === 'sent' ? best : verdict
    return [layer, format, tokens ?? '', price ?? '', names, saved, end]
  })
  rows.push(['L3', 'passthrough', baseline, '', layer === 'L3' ? best : 'dearer'])
  return table(['layer', 'format', 'tokens', 'price', 'constructs', 'saved', 'verdict'], rows)
}

/** Each part below the one that it is in, by its own step of the path. */
function partsTable({ parts, format }: Explanation): string {
  const around: string[] = []
  const rows = parts.slice(0, MOST_ROWS).map(({ path, depth, chosen, tokens, options }) => {
    const step = path.slice(depth === 0 ? 0 : around[depth - 1]!.length)
    around[depth] = path
    const all = options.map(option => `${option.way} ${rounded(option.tokens)}`)
    return ['  '.repeat(depth) + step, chosen, rounded(tokens), all.join(', ')]
  })
  const shown = table([`part of ${format}`, 'chosen', 'tokens', 'of'], rows)
  return shown + moreOf(parts.length, 'parts')
}

function planText({ final, format }: Explanation, plan: NonNullable<Explanation['plan']>): string {
  const { budget_tokens, classes, worth, whole_worth, upper_bound, gap, optimal } = plan
  const proof = optimal ? 'proven best' : `not proven best, gap ${percent(gap, 1)}`
  const facts = [
    ['budget', `${budget_tokens} tokens; the text takes ${final}, in ${format}`],
    ['parts decided on', String(classes)],
    ['worth kept', `${rounded(worth)} of ${rounded(whole_worth)} (${percent(worth, whole_worth)})`],
    ['at most possible', `${rounded(upper_bound)}, ${proof}`],
  ]
  const rows = plan.omissions
    .slice(0, MOST_ROWS)
    .map(({ at, unit, omitted, of }) => [at, omitted, of ?? '', unit])
  return [
    facts.map(([name, fact]) => `${name}: ${fact}`).join('\n'),
    table(['left out at', 'count', 'of', 'what'], rows) + moreOf(plan.omissions.length, 'places'),
  ].join('\n\n')
}

function rounded(count: number): string {
  return count.toLocaleString('en-US', { maximumFractionDigits: 1 })
}

function moreOf(count: number, what: string): string {
  return count > MOST_ROWS ? `\n… ${count - MOST_ROWS} more ${what}` : ''
}
