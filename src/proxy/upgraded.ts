import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Upgrade } from './exchange.ts'
import { Guard } from './guard.ts'
import { answerHeaders } from './headers.ts'
import { joinStreams } from './tunnel.ts'

/**
 * An answer on a connection that the server gave away with its `upgrade` event; the connection is
 * closed after it. If an earlier answer is still on its way there, both are destroyed.
 */
export function answerOn(socket: Socket, incoming: IncomingMessage): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  const guard = new Guard(() => socket.destroy())
  // The server's listeners are gone. Only the close that follows is handled.
  guard.on(socket, 'error', () => socket.destroy())
  try {
    outgoing.assignSocket(socket)
  } catch {
    socket.destroy()
    outgoing.destroy()
    return outgoing
  }
  guard.on(socket, 'drain', () => outgoing.emit('drain'))
  guard.on(outgoing, 'finish', () => socket.destroySoon())
  return outgoing
}

export interface JoinOptions {
  /** What came in after the head of the request. */
  readonly head: Buffer
  readonly idleMs: number
  readonly extraHeaders: Readonly<Record<string, string>>
}

/** Reports to the client that the upstream switched protocols, and joins the two connections. */
export function joinUpgraded(
  socket: Socket,
  outgoing: ServerResponse,
  options: JoinOptions,
): Upgrade {
  return ({ answer, upstream, head, guard }, ended) => {
    outgoing.detachSocket(socket)
    socket.write(switchingHead(answer, options.extraHeaders), 'latin1')
    return joinStreams(
      { stream: socket, head: options.head },
      { stream: upstream, head },
      { guard, idleMs: options.idleMs, ended },
    )
  }
}

function switchingHead(
  { statusCode, statusMessage, rawHeaders }: IncomingMessage,
  extra: Readonly<Record<string, string>>,
): string {
  const headers = answerHeaders(rawHeaders, { extra, upgrade: true })
  let head = `HTTP/1.1 ${statusCode} ${statusMessage}\r\n`
  for (let at = 0; at + 1 < headers.length; at += 2)
    head += `${headers[at]}: ${headers[at + 1]}\r\n`
  return `${head}\r\n`
}
