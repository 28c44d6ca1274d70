import { type Dialect, textField, timeOf } from './log-line.ts'

/** Compactions beyond this are no count. */
const MAX_EPOCH = 10_000

/**
 * A line of a recorded session, as `haversack replay` reads them: a tool and the text that it gave.
 */
export const recording: Dialect = line => {
  const { text, epoch } = line
  const tool = textField(line, 'tool')
  if (typeof text !== 'string' || tool === undefined) return null
  const session = textField(line, 'session')
  const ts_ms = timeOf(line['ts'])
  const id = textField(line, 'call_id')
  const model = textField(line, 'model')
  const isEpoch = Number.isInteger(epoch) && Number(epoch) >= 0 && Number(epoch) <= MAX_EPOCH
  return {
    ...(session === undefined ? {} : { session }),
    ...(line['is_sidechain'] === true ? { agent: 'agent' } : {}),
    ...(ts_ms === undefined ? {} : { ts_ms }),
    ...(model === undefined ? {} : { model }),
    steps: [
      {
        kind: 'result',
        text,
        tool,
        args: line['args'],
        is_error: line['is_error'] === true,
        ...(id === undefined ? {} : { id }),
        ...(isEpoch ? { epoch: Number(epoch) } : {}),
      },
    ],
  }
}
