import { ownThread } from '../../threads/own-thread.ts'
import { type SelectJob, selectOwn } from './select-elsewhere.ts'

/** The thread that cuts parts out of large bodies. `select-elsewhere.ts` starts it. */
const { port } = ownThread()

port.on('message', (job: SelectJob) => {
  const answer = selectOwn(job)
  port.postMessage(answer, answer.ok ? [answer.part.content.buffer as ArrayBuffer] : [])
})
