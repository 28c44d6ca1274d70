import { DEFAULT_PIPELINE } from '../src/core/pipeline/profile/pipeline-config.ts'
import { collectStats } from '../src/tune/rules/class-stats.ts'
import { proposeByRules } from '../src/tune/rules/rules.ts'
import { machine } from './support/machine.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'
import { codeReads } from './tune/code-reads.ts'
import { elisionByClass, needsByClass } from './tune/elision-by-class.ts'
import { generationsTable } from './tune/generations.ts'
import { priorElision } from './tune/priors.ts'
import { profilesTable } from './tune/profiles.ts'
import { conversationsOf, playsOf, seenBy } from './tune/recorded.ts'
import { losslessOverSplits, seedRules } from './tune/seed-rules.ts'

/**
 * npm run bench -- tune CORPUS [--only elision,seed,lossless,profiles,generations
 *   --splits N --write]
 *
 * What tuning wins on recorded sessions: elision by class on conversations that it was not chosen
 * by, the rules of seed 000 as written, and lossless rules over many splits. Prints Markdown;
 * `--write` puts it into bench/README.md.
 */
const options = readOptions({
  corpus: REQUIRED,
  only: ['elision', 'seed', 'lossless', 'profiles', 'generations'],
  splits: 200,
  write: false,
})

const conversations = conversationsOf(options.corpus)
const started = process.cpuUsage()
const lossless = playsOf(false)

const SECTIONS: Readonly<Record<(typeof options.only)[number], () => string>> = {
  elision() {
    const plays = playsOf(true)
    return [
      'Elision by class, billed tokens saved on the unseen half, means:',
      elisionByClass(conversations, plays, options.splits),
      'Elision of a class off by figures of others, for members without results of their own:',
      priorElision(conversations, plays, options.splits),
      'Needed by quotation, all fetched whole:',
      needsByClass(conversations, plays),
      'Source code alone:',
      codeReads(conversations, plays),
    ].join('\n\n')
  },
  seed: () =>
    `Rules of seed 000 as written, nothing left out:\n\n${seedRules(conversations, lossless)}`,
  lossless() {
    const stats = collectStats(seenBy(conversations, lossless, new Map()))
    const terms = { config: DEFAULT_PIPELINE, stats, all: stats, isProxied: true }
    const proposals = proposeByRules(terms).filter(({ isTooFew }) => !isTooFew)
    return losslessOverSplits(conversations, lossless, { proposals, splits: options.splits })
  },
  profiles: () => `The profiles of seed 000, fetched whole:\n\n${profilesTable(conversations)}`,
  generations: () => `64 generations of a configuration:\n\n${generationsTable()}`,
}

const parts = [`\`${JSON.stringify(machine())}\``]
for (const name of options.only) parts.push(SECTIONS[name]())
const { user, system } = process.cpuUsage(started)
parts.push(`Processor time: ${((user + system) / 1e6).toFixed(0)} s.`)
const report = parts.join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('tune', report)
