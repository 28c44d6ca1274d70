import { Session } from 'node:inspector/promises'
import { encode } from '../src/index.ts'
import { readResults } from '../src/lab/replay/read-results.ts'
import { createLocalContext } from '../src/library/local-context.ts'
import { createLocalSessions } from '../src/library/local-sessions.ts'
import { rewrittenTurns } from './guard/groups.ts'
import { readTree, type Share, sharesOf, totalOf } from './profile/read-profile.ts'
import { machine } from './support/machine.ts'
import { markdownTable } from './support/markdown-table.ts'

/**
 * npm run profile -- encode|session|proxy CORPUS
 *
 * Where the time of this thread goes, by folder and by function. `encode` takes every result by
 * itself, `session` with those before it, `proxy` recorded conversations turn by turn. The first
 * results of a run are not counted, because their code is compiled.
 */
const SESSION_BYTES = 1 << 28
/** Microseconds between two looks at the stack. */
const INTERVAL = 250
const SHOWN = 40

type Work = () => void | Promise<void>

const WORKS: Readonly<Record<string, (corpus: string) => Work>> = {
  encode(corpus) {
    const { results } = readResults(corpus)
    return () => {
      for (const { text } of results) encode({ content: text })
    }
  },
  session(corpus) {
    const { results } = readResults(corpus)
    return () => {
      const sessions = createLocalSessions(createLocalContext(), { bodyBytes: SESSION_BYTES })
      for (const { text, tool, session } of results) {
        sessions.encode({ content: text, tool, ...(session === undefined ? {} : { session }) })
      }
    }
  },
  proxy: corpus => async () => {
    for await (const _ of rewrittenTurns(corpus));
  },
}

const [name = '', corpus] = process.argv.slice(2)
const workOf = Object.hasOwn(WORKS, name) ? WORKS[name] : undefined
if (workOf === undefined || corpus === undefined) {
  process.stderr.write('usage: npm run profile -- encode|session|proxy CORPUS\n')
  process.exit(64)
}

const work = workOf(corpus)
await work()
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.setSamplingInterval', { interval: INTERVAL })
await session.post('Profiler.start')
const before = process.cpuUsage()
await work()
const { user, system } = process.cpuUsage(before)
const { profile } = await session.post('Profiler.stop')

const root = readTree(profile)
const total = totalOf(root)
const percent = (share: number) => ((share / total) * 100).toFixed(1)
const rowsOf = (shares: readonly Share[]) =>
  shares.slice(0, SHOWN).map(each => [percent(each.inclusive), percent(each.own), each.name])

console.log(JSON.stringify({ machine: machine(), name, processor_ms: (user + system) / 1000 }))
for (const by of ['folder', 'name'] as const) {
  const header = ['with what it calls, %', 'itself, %', by === 'name' ? 'function' : by]
  console.log(markdownTable(header, rowsOf(sharesOf(root, frame => frame[by]))))
}
