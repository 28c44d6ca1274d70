import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as jsonOf } from 'node:stream/consumers'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { FETCHES, LeftOut, readShown, viewOf } from '../../test/support/plain-readers/read-shown.ts'
import { ANTHROPIC, type Answer, type Conversation, OPENAI, type Usage } from './dialects.ts'
import { solverOf } from './make-task.ts'

/** How a reader reads a result; for tests one may lie. */
export type Read = typeof readShown

/** A model that is played: a solver with the eyes of a plain reader, as an API of two vendors. */
export interface PlainModel {
  readonly url: string
  close(): Promise<void>
}

/** @param count what it says that a request used */
export async function startPlainModel(
  count: (conversation: Conversation) => Usage | null,
  read: Read = readShown,
): Promise<PlainModel> {
  const server = createServer(async (incoming, response) => {
    const dialect = [ANTHROPIC, OPENAI].find(({ path }) => incoming.url?.startsWith(path))!
    let [status, answer]: [number, object] = [200, {}]
    try {
      const body = (await jsonOf(incoming)) as { [key: string]: Json }
      const request = dialect.readRequest(body)
      const usage = count(request)
      const next = nextAnswer(request, request.tools.includes(FETCHES), read)
      answer = dialect.writeAnswer({ ...next, usage }, String(body['model']))
    } catch (error) {
      // What a reader does not understand is told to the agent, which ends there.
      const said = { type: 'invalid_request_error', message: String(error) }
      ;[status, answer] = [400, { type: 'error', error: said }]
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

const NOTES = 'Notes: '

/**
 * What the reader says next. It has no memory but the conversation: what it noted of earlier
 * results stands in its own messages, so it reads each result once, and others when it must.
 */
export function nextAnswer(
  conversation: Conversation,
  canFetch: boolean,
  read: Read,
): Omit<Answer, 'usage'> {
  const view = viewOf(conversation)
  const notes = conversation.turns.flatMap(({ said }) =>
    said.startsWith(NOTES) ? (JSON.parse(said.slice(NOTES.length)) as unknown[]) : [],
  )
  const id = `toolu_${view.calls.length}`
  const solving = solverOf(conversation.prompt)
  const fresh: unknown[] = []
  let made = 0
  let next = solving.next()
  for (let taken = 0; next.done !== true; taken++) {
    const { at, as, note } = next.value
    if (typeof at !== 'number' && made++ === view.own.length) {
      const said = fresh.length === 0 ? '' : NOTES + JSON.stringify(fresh)
      return { said, calls: [{ id, name: at.tool, args: at.args }] }
    }
    if (taken >= notes.length) {
      try {
        fresh.push(note(read(view, view.own[typeof at === 'number' ? at : made - 1]!, as)))
      } catch (error) {
        if (!(error instanceof LeftOut) || !canFetch) throw error
        return { said: '', calls: [{ id, name: FETCHES, args: { hash: error.hash, all: true } }] }
      }
    }
    next = solving.next(taken < notes.length ? notes[taken] : fresh.at(-1))
  }
  return { said: 'done', calls: [] }
}
