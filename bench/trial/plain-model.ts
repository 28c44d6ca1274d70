import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json as jsonOf } from 'node:stream/consumers'
import type { Json } from '../../test/support/plain-readers/json.ts'
import { ANTHROPIC, type Answer, type Conversation, OPENAI, type Usage } from './dialects.ts'
import { solverOf } from './make-task.ts'
import { LeftOut, readShown, type ShownCall, type View } from './read-shown.ts'
import type { Step } from './solving.ts'

const FETCHES = 'haversack_retrieve'

/** How a reader reads a result; for tests one may lie. */
export type Read = typeof readShown

/** A model that is played: a solver with the eyes of a plain reader, as an API of two vendors. */
export interface PlainModel {
  readonly url: string
  close(): Promise<void>
}

/** What it says that a request used. */
export type Count = (conversation: Conversation) => Usage | null

export async function startPlainModel(count: Count, read: Read = readShown): Promise<PlainModel> {
  const server = createServer(async (incoming, response) => {
    const dialect = [ANTHROPIC, OPENAI].find(({ path }) => incoming.url?.startsWith(path))
    try {
      const body = (await jsonOf(incoming)) as { [key: string]: Json }
      const request = dialect!.readRequest(body)
      const usage = count(request)
      const answer = { ...nextAnswer(request, request.tools.includes(FETCHES), read), usage }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(dialect!.writeAnswer(answer, String(body['model']))))
    } catch (error) {
      // What a reader does not understand is told to the agent, which ends there.
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({
          type: 'error',
          error: { type: 'invalid_request_error', message: String(error) },
        }),
      )
    }
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
function nextAnswer(
  { prompt, turns }: Conversation,
  canFetch: boolean,
  read: Read = readShown,
): Omit<Answer, 'usage'> {
  const calls: ShownCall[] = turns.flatMap(turn =>
    turn.calls.map((call, i) => ({ call, text: turn.results[i]?.text ?? '' })),
  )
  const own = calls.flatMap(({ call }, at) => (call.name === FETCHES ? [] : [at]))
  const fetched = new Map(
    calls.flatMap(({ call, text }) =>
      call.name === FETCHES ? [[String(call.args['hash']), text]] : [],
    ),
  )
  const view: View = { calls, fetched }
  const notes = turns.flatMap(({ said }) =>
    said.startsWith(NOTES) ? (JSON.parse(said.slice(NOTES.length)) as unknown[]) : [],
  )
  const solving = solverOf(prompt)
  const fresh: unknown[] = []
  let made = 0
  const id = `toolu_${calls.length}`
  let next = solving.next()
  for (let taken = 0; next.done !== true; taken++) {
    const { at } = next.value
    if (typeof at !== 'number' && made === own.length) {
      const said = fresh.length === 0 ? '' : NOTES + JSON.stringify(fresh)
      return { said, calls: [{ id, name: at.tool, args: at.args }] }
    }
    if (typeof at !== 'number') made++
    if (taken >= notes.length) {
      try {
        fresh.push(noteOf(next.value, view, own[typeof at === 'number' ? at : made - 1]!, read))
      } catch (error) {
        if (!(error instanceof LeftOut) || !canFetch) throw error
        return { said: '', calls: [{ id, name: FETCHES, args: { hash: error.hash, all: true } }] }
      }
    }
    next = solving.next(taken < notes.length ? notes[taken] : fresh.at(-1))
  }
  return { said: 'done', calls: [] }
}

function noteOf({ as, note }: Step, view: View, at: number, read: Read): unknown {
  return note(read(view, at, as))
}
