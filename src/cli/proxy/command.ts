import { compressionOf } from '../../config/compression.ts'
import { processEnv } from '../../config/env.ts'
import { FIXED_LIMITS } from '../../config/fixed-limits.ts'
import { loadConfig } from '../../config/load.ts'
import { defineCommand, type Options, UsageError } from '../../console/command.ts'
import { readBytes } from '../../console/input.ts'
import { choice, jsonOption } from '../../console/options.ts'
import { table } from '../../console/table.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import { bodyRules, ROUTE_NAMES } from '../../core/dialects/lookup.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import {
  type CheckedRequest,
  type CheckedText,
  checkRequest,
  guessRoute,
  type Untouched,
} from './check-request.ts'

const ROUTES = new Map(ROUTE_NAMES.map(route => [bodyRules(route).command, route] as const))
const COMMANDS = [...ROUTES.keys()]

export const checkOptions = {
  check: { type: 'string', value: 'FILE', help: 'The body; - for standard input' },
  route: choice(COMMANDS, {
    value: 'NAME',
    help: `Its route: ${COMMANDS.join(', ')} (default: by the body)`,
  }),
  ...jsonOption,
} as const satisfies Options

export const proxyCommand = defineCommand({
  name: 'proxy',
  examples: ['proxy --check request.json --show'],
  operands: '--check FILE',
  maxOperands: 0,
  options: { ...checkOptions, show: { type: 'boolean', help: 'Print the new texts, too' } },
  async run(values) {
    const file = values.check
    if (file === undefined) throw new UsageError('proxy takes --check FILE')
    const body = await readBytes(file)
    const label = file === '-' ? 'standard input' : file
    const name = values.route ?? guess(parse(body, label), label)
    const context = createLocalContext()
    const route = ROUTES.get(name)!
    const checked = checkRequest(body, route, context, untouchedBecause(body))
    if (checked === null) throw new Error(unreadable(parse(body, label), name, label))
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ route: name, ...withTexts(checked, values.show) })}\n`
        : reportText(checked, values.show),
    )
    return EXIT.ok
  },
})

type Checked = NonNullable<ReturnType<typeof checkRequest>>

function withTexts(checked: Checked, withText: boolean): object {
  if (withText) return checked
  return { ...checked, texts: checked.texts.map(({ text: _, ...rest }) => rest) }
}

/** @throws Error for bytes that are not JSON */
function parse(body: Buffer, label: string): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body))
  } catch {
    throw new Error(
      `${label} is no JSON in UTF-8: a proxy would forward it as it is, unless its Content-Encoding says how it is compressed (then decompress it first)`,
    )
  }
}

function guess(body: unknown, label: string): string {
  const guessed = guessRoute(body)
  if (guessed === null) {
    throw new UsageError(`${label} does not show what it was sent to: give --route`)
  }
  const name = bodyRules(guessed.route).command
  process.stderr.write(`haversack: read as a request to ${name}: it has ${guessed.sign}\n`)
  return name
}

function unreadable(body: unknown, name: string, label: string): string {
  const isObject = typeof body === 'object' && body !== null && !Array.isArray(body)
  const why = isObject
    ? 'its conversation is missing, it has a key twice, or it is nested too deeply'
    : 'it is no object'
  return `${label} is no request to ${name} (${why}): a proxy would forward it as it is`
}

/** The reason why a proxy with this configuration would not rewrite the body. */
export function untouchedBecause(body: Uint8Array): Untouched | null {
  // This process listens on no port, so it needs no keys.
  const { compression } = loadConfig({ env: processEnv(), insecure: true })
  if (compressionOf(compression, LOCAL_TENANT) === false) return 'compression is off'
  return body.length > FIXED_LIMITS.rewriteBytes ? 'above 32 MiB' : null
}

const TEXTS_HEADER = [
  'message',
  'block',
  'part',
  'tool',
  'call',
  'before',
  'after',
  'format',
  'cached',
  'result',
]

/** A line for each text of a tool result, and the sums; with `show`, the new texts after them. */
function reportText(checked: CheckedRequest, show: boolean): string {
  const { texts, program_results } = checked
  const forPrograms = program_results.map(({ message, block, tool, call_id }) => {
    const [name, call] = [inCell(tool), inCell(call_id)]
    return [message, block, '', name, call, '', '', '–', '', 'kept: program result']
  })
  const rows = texts.map(text => [
    text.message,
    text.block,
    text.part,
    inCell(text.tool),
    inCell(text.call_id),
    text.tokens_before,
    text.tokens_after,
    text.format ?? '–',
    text.cached_prefix ? 'yes' : 'no',
    resultOf(text),
  ])
  const shown = show ? texts.filter(({ kept }) => kept === null).map(newText) : []
  const all = [...rows, ...forPrograms]
  const listed = all.length === 0 ? [] : [table(TEXTS_HEADER, all), '']
  return `${[...listed, sumsOf(checked), ...shown].join('\n')}\n`
}

function resultOf({ kept, is_error }: CheckedText): string {
  const result = kept === null ? 'rewritten' : `kept: ${kept}`
  return is_error ? `${result} (error)` : result
}

function sumsOf(checked: CheckedRequest): string {
  const { texts, tokenizer, exact, tokens_saved, bytes_before, bytes_after } = checked
  const rewritten = texts.filter(({ kept }) => kept === null).length
  const all = textsOf(texts.length)
  if (checked.unchanged) {
    return `${all} of tool results, nothing is rewritten: forwarded byte for byte.`
  }
  const counted = exact ? tokenizer : `${tokenizer}, estimated`
  return (
    `${rewritten} of ${all} rewritten, ${grouped(tokens_saved)} tokens saved (${counted}); ` +
    `${grouped(bytes_before)} → ${grouped(bytes_after)} bytes, all others as they came.`
  )
}

function newText({ message, block, part, format, text }: CheckedText): string {
  return `\n--- message ${message}, block ${block}, part ${part}: ${format ?? 'rewritten'}\n${text}`
}

function textsOf(count: number): string {
  return `${count} text${count === 1 ? '' : 's'}`
}

function grouped(count: number): string {
  return count.toLocaleString('en-US')
}

/** A text of a client, on one line and without control characters. */
function inCell(word: string | null): string {
  return word === null ? '–' : word.replace(/\p{Cc}/gu, '·')
}
