import { appendFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'

/**
 * `node --import` of a service: on SIGUSR2 it appends to the file that its URL names for how long one
 * turn of the main thread's event loop ran at most since the last one, in milliseconds of its
 * processor time, so that other processes of the machine do not count.
 */
const file = new URL(import.meta.url).searchParams.get('file')

if (isMainThread && file !== null) {
  let before = process.threadCpuUsage()
  let most = 0
  setInterval(() => {
    const { user, system } = process.threadCpuUsage()
    most = Math.max(most, (user + system - before.user - before.system) / 1_000)
    before = { user, system }
  }, 1).unref()
  process.on('SIGUSR2', () => {
    appendFileSync(file, `${most}\n`)
    most = 0
  })
}
