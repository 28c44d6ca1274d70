import type { EncodeRequest } from '../../core/contract/encode.ts'
import { createPseudonyms } from '../../core/telemetry/pseudonyms.ts'
import { resolveTokenizer } from '../../core/tokens/profiles.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { ownThread } from '../../threads/own-thread.ts'
import { UnreadableLog } from '../logs/chunks.ts'
import type { LogFile } from '../logs/list-logs.ts'
import { type LogTally, noTally } from '../logs/read-log.ts'
import { type Mined, mineLog } from '../mine-log.ts'
import { type Baseline, loadBaseline } from '../replay/baselines.ts'

/** The setup of a thread. */
export interface MineSetup {
  readonly tokens: Pick<EncodeRequest, 'tokenizer' | 'model'>
  /** Keys the hashes. */
  readonly key: Uint8Array
  /** What savings are of: the input if absent. */
  readonly baseline?: Baseline
}

/** To the thread: a log, by its place among all. */
export interface MineTask {
  readonly index: number
  readonly file: LogFile
}

/** From the thread: results of its log in their order, then what was read of it. */
export type MineMessage =
  | { readonly kind: 'read'; readonly bytes: number }
  | { readonly kind: 'mined'; readonly index: number; readonly mined: readonly Mined[] }
  | {
      readonly kind: 'done'
      readonly index: number
      readonly tally: LogTally
      /** Whether all of it could be read. */
      readonly isWhole: boolean
    }

/** Results in one message. */
const BATCH = 256
/** Whose hashes these are: one's own. */
const TENANT = 'mine'

const { port, data } = ownThread<MineSetup>()
const { tokens, key, baseline = 'input' } = data
const context = createLocalContext()
const render = await loadBaseline(baseline)
const counter = context.counters.get(resolveTokenizer(tokens))
const baselineOf = (text: string) => counter.count(render(text))
const ofBaseline = baseline === 'input' ? {} : { baselineOf }
const pseudonyms = createPseudonyms(key, TENANT)
const terms = { context, pseudonyms, tokens, ...ofBaseline }

function post(message: MineMessage): void {
  port.postMessage(message)
}

port.on('message', ({ index, file }: MineTask) => {
  const tally = noTally()
  const onRead = (bytes: number) => post({ kind: 'read', bytes })
  let isWhole = true
  let batch: Mined[] = []
  try {
    for (const mined of mineLog(file, tally, { ...terms, onRead })) {
      batch.push(mined)
      if (batch.length < BATCH) continue
      post({ kind: 'mined', index, mined: batch })
      batch = []
    }
  } catch (error) {
    // The other logs can still be read.
    if (!(error instanceof UnreadableLog)) throw error
    isWhole = false
  }
  post({ kind: 'mined', index, mined: batch })
  post({ kind: 'done', index, tally, isWhole })
})
