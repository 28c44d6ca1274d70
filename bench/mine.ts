/**
 * npm run bench -- mine CORPUS [--write]
 *
 * What the recorded results of a corpus are like and what notations save of them, as `haversack
 * tune mine` tells it; the seed's figures beside these; and how fast logs are read and mined.
 */

import { headline, tablesOf } from '../src/cli/tune/report.ts'
import { createPseudonyms, TELEMETRY_KEY_BYTES } from '../src/core/telemetry/pseudonyms.ts'
import { createLocalContext } from '../src/runtime/local-context.ts'
import { listLogs } from '../src/tune/logs/list-logs.ts'
import { noTally } from '../src/tune/logs/read-log.ts'
import { type Mined, mineLog } from '../src/tune/mine-log.ts'
import { createStudy } from '../src/tune/study/study.ts'
import { corpusSessions } from './mine/corpus-sessions.ts'
import { seedRulesTable, seedTable } from './mine/seed-figures.ts'
import { speedTables } from './mine/speed.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'
import { REQUIRED, readOptions } from './support/options.ts'
import { writeSection } from './support/write-section.ts'

const options = readOptions({ corpus: REQUIRED, write: false })

/** Most rows of a table. */
const MAX_ROWS = 15

function mineCorpus(folder: string) {
  const study = createStudy()
  const mined: Mined[] = []
  const key = new Uint8Array(TELEMETRY_KEY_BYTES)
  const options = {
    context: createLocalContext(),
    pseudonyms: createPseudonyms(key, ''),
    tokens: {},
  }
  for (const file of listLogs([folder]).files) {
    for (const each of mineLog(file, noTally(), options)) if (study.add(each)) mined.push(each)
  }
  return { mined, study: study.result() }
}

const { mined, study } = mineCorpus(options.corpus)
const [reading, threads, memory] = await speedTables(corpusSessions(options.corpus))
const { node, cores, cpu, date } = machine()
const report = [
  `Node ${node}, ${cores} cores, ${cpu}, ${date}. ${headline(study)}`,
  ...tablesOf(study).flatMap(({ title, header, rows }) => {
    const cut = rows.length > MAX_ROWS ? [`… and ${rows.length - MAX_ROWS} more.`] : []
    return [`#### ${title}`, markdownTable(header, rows.slice(0, MAX_ROWS)), ...cut]
  }),
  "#### The seed's figures",
  seedTable(study, mined),
  seedRulesTable(mined),
  '#### Speed',
  'The sessions of the corpus as each agent would have written them, a log a session. Processor time of one thread, medians of five ' +
    'rounds in turn, mining once: read lines are split, parsed and told apart; “searched only” looks for what matters in the bytes ' +
    'of a line. Mining is reading, encoding each result in its session, and what the study needs.',
  reading!,
  'Claude Code logs in threads; time by the clock, medians of three rounds in turn.',
  threads!,
  'Resident memory while one log is read, above what it was before.',
  memory!,
].join('\n\n')
process.stdout.write(`${report}\n`)
if (options.write) writeSection('mine', report)
