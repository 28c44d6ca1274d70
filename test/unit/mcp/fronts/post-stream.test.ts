import { expect, it } from 'vitest'
import { EventLog } from '../../../../src/mcp/fronts/legacy/event-log.ts'
import { PostStream } from '../../../../src/mcp/fronts/legacy/post-stream.ts'

function openPost(): PostStream {
  return new PostStream({
    number: 1,
    log: new EventLog({ left: 1024 }),
    isBatch: false,
    signal: new AbortController().signal,
    now: () => 0,
  })
}

// After 404 a client opens another session and repeats the call.
it('does not answer a call that may have run as if its session were unknown', async () => {
  const post = openPost()
  post.close()
  expect(post.ending.aborted).toBe(true)
  expect((await post.reply).status).toBe(502)
})
