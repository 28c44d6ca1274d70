import { availableParallelism } from 'node:os'
import { createProgress } from '../../console/progress.ts'
import type { EventFile } from '../event-file.ts'
import type { LogFile, LogList } from '../logs/list-logs.ts'
import { LogThreads } from '../logs/log-threads.ts'
import { addTally, noTally } from '../logs/read-log.ts'
import type { MinedLog, MineTerms } from '../mine-log.ts'
import { Study } from '../study/study.ts'
import type { Minings } from './report.ts'

const MEGABYTE = 1_000_000
/** Bytes of logs for which a thread is started. */
const THREAD_BYTES = 2 * MEGABYTE
/** Logs that are read at once, whose results wait for those before them. */
const WINDOW = 64

export interface MineOptions extends MineTerms {
  /** Takes an event for each result. */
  readonly file: Pick<EventFile, 'add'> | null
  readonly threads?: number
}

/**
 * Mines logs in threads, each in one, since the encoding of a result depends on those before it.
 * The results are the same for any number of threads.
 * @throws Error if a thread is lost, or what the file throws
 */
export async function mineLogs(list: LogList, options: MineOptions): Promise<Minings> {
  const { files, other } = list
  const bytes = files.reduce((sum, each) => sum + each.bytes, 0)
  const most = Math.min(availableParallelism(), Math.max(1, Math.floor(bytes / THREAD_BYTES)))
  const { file: events, threads: count = most, ...terms } = options
  const threads = new LogThreads(count)
  const study = new Study()
  const tally = noTally()
  const progress = createProgress('mine MB', Math.ceil(bytes / MEGABYTE))
  let { unreadable } = list
  try {
    for (let at = 0; at < files.length; at += WINDOW) {
      const window = files.slice(at, at + WINDOW)
      const answers = new Map<LogFile, MinedLog | null>()
      await threads.each(
        window,
        file => ({ kind: 'mine', file, terms }),
        (file, answer) => {
          answers.set(file, answer)
          progress.advance(file.bytes / MEGABYTE)
        },
      )
      for (const file of window) {
        const log = answers.get(file)
        if (log?.isWhole !== true) unreadable++
        if (log == null) continue
        addTally(tally, log.tally)
        for (const each of log.mined) if (study.add(each)) events?.add(each)
      }
    }
  } finally {
    await threads.close()
  }
  progress.done()
  const { baseline } = terms
  return { files: files.length, baseline, other, bytes, unreadable, tally, study: study.result() }
}
