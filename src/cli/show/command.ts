import { processEnv } from '../../config/env.ts'
import { CONTENT_DEPTH } from '../../config/fixed-limits.ts'
import { loadConfig } from '../../config/load.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import { lookOf, paint } from '../../console/paint.ts'
import { visible } from '../../core/base/visible.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import { getCommand, getOptions } from '../get/command.ts'
import { checkOptions, proxyCommand } from '../proxy/command.ts'

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
    const { showScreen } = await import('./screen.ts')
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
