import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Upgrade } from './exchange.ts'
import { answerHeaders } from './headers.ts'
import { joinStreams } from './tunnel.ts'

/**
 * An answer on a connection that the server gave away with its `upgrade` event; the connection is closed behind it. Where an
 * earlier answer is still on its way there, both are destroyed.
 */
export function answerOn(socket: Socket, incoming: IncomingMessage): ServerResponse {
  const outgoing = new ServerResponse(incoming)
  outgoing.shouldKeepAlive = false
  // The server's listeners are gone; the close that follows is what counts.
  socket.on('error', () => socket.destroy())
  try {
    outgoing.assignSocket(socket)
  } catch {
    socket.destroy()
    outgoing.destroy()
    return outgoing
  }
  socket.on('drain', () => outgoing.emit('drain'))
  outgoing.on('finish', () => socket.destroySoon())
  return outgoing
}

export interface JoinOptions {
  /** What came in behind the head of the request. */
  readonly head: Buffer
  readonly idleMs: number
  readonly extraHeaders: Readonly<Record<string, string>>
}

/** Tells the client that the upstream switched protocols, and joins the two connections. */
export function joinUpgraded(
  socket: Socket,
  outgoing: ServerResponse,
  options: JoinOptions,
): Upgrade {
  return (answer, upstream, head, ended) => {
    outgoing.detachSocket(socket)
    socket.write(switchingHead(answer, options.extraHeaders), 'latin1')
    return joinStreams(
      { stream: socket, head: options.head },
      { stream: upstream, head },
      { idleMs: options.idleMs, ended },
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
