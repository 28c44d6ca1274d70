import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readImports } from './read-imports.ts'

const root = new URL('../../../', import.meta.url)
const files = [...readImports(root).keys()].filter(file => /^(?:src|workers)\//.test(file))

/** An array that byte chunks are collected in. */
const LIST = /:\s*(?:Buffer|Uint8Array|JsonBytes)(?:<\w+>)?\[\]\s*=\s*\[\]/
/** Not the method of a reader that takes chunks. */
const PUSHED = /(?<!reader|lines)\.push\((?:Buffer\.from\()?(?:chunk|piece)\b/
/** Bodies that Node collects in such an array, without a bound. */
const WHOLE_BODY =
  /await \w*(?:response|answer|ready|reply|fetch\([^)]*\))\.(?:json|text|arrayBuffer|bytes|blob)\(\)|node:stream\/consumers|Response\(\w+\)\.\w+\(\)/i

/** Lists whose number of parts no peer decides. */
const BOUNDED: Readonly<Record<string, string>> = {
  'src/core/base/text-bytes.ts': 'pieces of one text, which is there',
  'src/core/conversation/parse/shared-messages.ts': 'messages of one body, which is there',
  'src/core/conversation/retrieve/anthropic-answer.ts': 'whole events of one answer, held in part',
  'src/core/conversation/retrieve/chat-answer.ts': 'whole events of one answer, held in part',
  'src/core/conversation/retrieve/responses-answer.ts': 'whole events of one answer, held in part',
  'src/core/json/bytes/splice.ts': 'edits of one body, which is there',
  'src/core/parts/grep.ts': 'lines of one body, which is there',
  'src/core/reduce/trim/chunk-index.ts': 'chunks of one text, which is there',
  'src/core/tokens/unicode-classes.ts': 'blocks of a constant table',
  'src/fingerprints/build/build-together.ts': 'records of the store, and their parts',
  'src/fingerprints/team-records.ts': 'records of the store',
  'src/mcp/fronts/legacy/post-stream.ts': 'answers of one batch, which has 100 at most',
  'src/mcp/gateway.ts': 'extensions that a client names, 32 at most',
  'src/mcp/client/input-rounds.ts': 'answers to one round of questions',
  'src/mcp/catalogue/lists/read-list.ts': 'items of one array, which is there',
  'src/mcp/fronts/message-intake.ts': 'lines of one chunk, after which the stream waits',
  'src/proxy/websocket/message-relay.ts': 'events of ours for one client',
  'src/store/redis/chunks.ts': 'chunks of one body, which is there',
  'src/store/sqlite/protocol.ts': 'views of one message, which is there',
  'src/lab/logs/read-lines.ts': 'pieces of 1 MiB of a file',
}

describe('what a peer sends', () => {
  it('is collected in one buffer that grows, not in a list of chunks', () => {
    const lists = files.filter(file => {
      const text = readFileSync(new URL(file, root), 'utf8')
      return LIST.test(text) || PUSHED.test(text)
    })
    expect(lists.sort()).toEqual(Object.keys(BOUNDED).sort())
  })

  it('is never read as a whole by what has no bound', () => {
    const whole = files.filter(file => {
      return WHOLE_BODY.test(readFileSync(new URL(file, root), 'utf8'))
    })
    // What a user pipes into a command, and answers of the app itself.
    expect(whole.sort()).toEqual(['src/console/input.ts', 'src/http/server.ts'])
  })
})
