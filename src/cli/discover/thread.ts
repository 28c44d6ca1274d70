import type { OperationContext } from '../../core/operations/operation.ts'
import {
  type EncodedLog,
  type Example,
  encodeLog,
  exampleOf,
  type LogSummary,
  summarizeLog,
} from '../../lab/discover/summarize-log.ts'
import { UnreadableLog } from '../../lab/logs/chunks.ts'
import type { LogFile } from '../../lab/logs/list-logs.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { ownThread } from '../../threads/own-thread.ts'

/** What a thread does with a log. */
export type LogTask =
  | { readonly kind: 'summarize'; readonly file: LogFile }
  | { readonly kind: 'encode'; readonly file: LogFile; readonly mostBytes: number }
  | { readonly kind: 'example'; readonly file: LogFile; readonly at: number }

/** What comes of it; `null`: the log cannot be read, or has none. */
export type LogAnswer = LogSummary | EncodedLog | Example | null

const { port } = ownThread()
let context: OperationContext | undefined

function answer(task: LogTask): LogAnswer {
  if (task.kind === 'summarize') return summarizeLog(task.file)
  context ??= createLocalContext()
  if (task.kind === 'encode') return encodeLog(task.file, context, task.mostBytes)
  return exampleOf(task.file, task.at, context)
}

port.on('message', (task: LogTask) => {
  try {
    port.postMessage(answer(task))
  } catch (error) {
    // The other logs can still be read.
    if (!(error instanceof UnreadableLog)) throw error
    port.postMessage(null)
  }
})
