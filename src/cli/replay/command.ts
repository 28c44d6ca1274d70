import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { processEnv } from '../../config/env.ts'
import { loadConfig } from '../../config/load.ts'
import { defineCommand, UsageError } from '../../console/command.ts'
import {
  budgetFieldsOf,
  budgetOptions,
  choice,
  readShare,
  tokenizerFieldsOf,
  tokenizerOptions,
} from '../../console/options.ts'
import { createProgress } from '../../console/progress.ts'
import { patient, serviceAt, serviceOptions } from '../../console/service-client.ts'
import { vendorOf } from '../../core/conversation/usage/billing.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { BASELINE_IDS, baselineCounter } from '../../lab/replay/baselines.ts'
import { replayEnrichment } from '../../lab/replay/enrichment.ts'
import { inProcessPlayer, servicePlayer } from '../../lab/replay/player.ts'
import { readResults } from '../../lab/replay/read-results.ts'
import { Replay } from '../../lab/replay/replay.ts'
import { toJson, toTables } from '../../lab/replay/report.ts'
import { planRecord, reportPlans, sessionsOf } from '../../lab/replay/speculate.ts'
import { studyPlans } from '../../lab/speculation/study-plans.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

/** Share of the markers that an agent is assumed to fetch. */
const RETRIEVED_SHARE = 0.2

export const replayCommand = defineCommand({
  name: 'replay',
  details:
    'DIR holds .jsonl files with a result ({"tool", "text", …}) a line, or plain files, each a result of the tool ' +
    'that its folder names. Every answer is verified and decoded.',
  examples: ['replay recordings/', 'replay --transcript transcript.jsonl session.jsonl'],
  operands: 'DIR|FILE',
  maxOperands: 1,
  options: {
    ...serviceOptions,
    url: { ...serviceOptions.url, help: 'Play against a running service' },
    ...tokenizerOptions,
    ...budgetOptions,
    budget: { ...budgetOptions.budget, help: 'Most tokens that an answer may have' },
    baseline: choice(BASELINE_IDS, {
      value: 'ID',
      help: `What savings are measured against: ${BASELINE_IDS.join(', ')} (default the first)`,
    }),
    redeem: {
      type: 'string',
      value: 'SHARE',
      help:
        'Share of the markers that count as fetched, for the net savings ' +
        `(default ${RETRIEVED_SHARE})`,
      read: readShare,
    },
    transcript: { type: 'string', value: 'FILE', help: 'Write requests and answers, for verify' },
    speculate: {
      type: 'boolean',
      help: 'Play the sessions with the planner of calls ahead instead; nothing is called',
    },
    enrichment: {
      type: 'boolean',
      help: 'DIR is a data folder: sum up the calls ahead in its telemetry, as CSV by session',
    },
    json: { type: 'boolean', help: 'Print all sums as JSON' },
  },
  async run(values, [path]) {
    if (path === undefined) throw new UsageError('DIR or FILE is required')
    if (!existsSync(path)) throw new UsageError(`there is no ${path}`)
    if (values.enrichment) {
      const { text, line } = await replayEnrichment(path, values.json === true)
      process.stdout.write(text)
      if (line !== null) process.stderr.write(`# enrichment: ${line}\n`)
      return EXIT.ok
    }
    if (values.speculate) return playPlans(path, values.json === true)
    const url = values.url
    const common = { ...tokenizerFieldsOf(values), ...budgetFieldsOf(values) }
    const { counters, ...context } = createLocalContext()
    const player =
      url === undefined
        ? inProcessPlayer({ counters, ...context })
        : servicePlayer(patient(serviceAt(url, values)))
    const { results, skipped } = readResults(path)
    for (const { file, reason } of skipped) process.stderr.write(`skipped ${file}: ${reason}\n`)
    if (results.length === 0) throw new UsageError(`no tool results in ${path}`)
    // Wrong options and a missing service fail here, once for all results.
    const { tokens } = await player.encode({ content: '', ...common })
    const { baseline = 'input', redeem = RETRIEVED_SHARE } = values
    const counter = counters.get(resolveTokenizer(common))
    const transcript = values.transcript === undefined ? null : openTranscript(values.transcript)
    const progress = createProgress('replay', results.length)
    let place = 0
    const replay = new Replay({
      player,
      common,
      counters,
      counter,
      share: redeem,
      baselineTokens: await baselineCounter(baseline, counter),
      write: line => transcript !== null && writeSync(transcript, line),
      tell(what, reason) {
        const { tool } = results[place]!
        process.stderr.write(`${what}: result ${place + 1} (${tool}): ${reason}\n`)
      },
    })
    for (; place < results.length; place++) {
      await replay.play(results[place]!)
      progress.advance()
    }
    progress.done()
    if (transcript !== null) closeSync(transcript)
    const print = values.json ? toJson : toTables
    const vendor = vendorOf(values.model)
    process.stdout.write(print({ replay, tokenizer: tokens.tokenizer, baseline, vendor }))
    const { total, failed, findings } = replay
    const isRight = failed === 0 && findings === 0 && total.restored === total.results
    return isRight ? EXIT.ok : EXIT.failed
  },
})

/** Readable to its owner only: it has all content. @throws UsageError if it cannot be written */
function openTranscript(path: string): number {
  try {
    return openSync(path, 'w', 0o600)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function playPlans(path: string, isJson: boolean): number {
  const { results } = readResults(path)
  const counter = createLocalContext().counters.get(resolveTokenizer({}))
  const config = loadConfig({ env: processEnv(), insecure: true })
  const study = studyPlans(sessionsOf(results), config, text => counter.count(text))
  if (study.sessions.told === 0) throw new UsageError(`no sessions in ${path}`)
  process.stdout.write(`${isJson ? JSON.stringify(planRecord(study)) : reportPlans(study)}\n`)
  return EXIT.ok
}
