import { parentPort } from 'node:worker_threads'
import { type SelectJob, selectOwn } from './select-elsewhere.ts'

/** The thread that cuts parts out of large bodies. `select-elsewhere.ts` starts it. */
const port = parentPort
if (port === null) throw new Error('this module runs in a worker thread')

port.on('message', (job: SelectJob) => {
  const answer = selectOwn(job)
  port.postMessage(answer, answer.ok ? [answer.part.content.buffer as ArrayBuffer] : [])
})
