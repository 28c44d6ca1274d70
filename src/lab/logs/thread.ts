import type { OperationContext } from '../../core/operations/operation.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { ownThread } from '../../threads/own-thread.ts'
import {
  type EncodedLog,
  type Example,
  encodeLog,
  exampleOf,
  type LogSummary,
  summarizeLog,
} from '../discover/summarize-log.ts'
import { type MinedLog, type MineTerms, mineLog } from '../mine-log.ts'
import { UnreadableLog } from './chunks.ts'
import type { LogFile } from './list-logs.ts'

/** What a thread does with a log. */
export type LogTask = { readonly file: LogFile } & (
  | { readonly kind: 'summarize' }
  | { readonly kind: 'encode'; readonly mostBytes: number }
  | { readonly kind: 'example'; readonly at: number }
  | { readonly kind: 'mine'; readonly terms: MineTerms }
)

/** What comes of it. */
export interface LogAnswers {
  readonly summarize: LogSummary
  readonly encode: EncodedLog
  readonly example: Example
  readonly mine: MinedLog
}

const { port } = ownThread()
let context: OperationContext | undefined

function contextOf(): OperationContext {
  context ??= createLocalContext()
  return context
}

async function answer(task: LogTask): Promise<LogAnswers[LogTask['kind']] | null> {
  switch (task.kind) {
    case 'summarize':
      return summarizeLog(task.file)
    case 'encode':
      return encodeLog(task.file, contextOf(), task.mostBytes)
    case 'example':
      return exampleOf(task.file, task.at, contextOf())
    case 'mine':
      return mineLog(task.file, contextOf(), task.terms)
  }
}

port.on('message', async (task: LogTask) => {
  try {
    port.postMessage(await answer(task))
  } catch (error) {
    // The other logs can still be read.
    if (!(error instanceof UnreadableLog)) throw error
    port.postMessage(null)
  }
})
