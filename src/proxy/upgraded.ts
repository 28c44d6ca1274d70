import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Upgrade } from './exchange.ts'
import { Guard } from './guard.ts'
import { answerHeaders } from './headers.ts'
import { joinStreams, type TunnelEnd } from './tunnel.ts'
import { joinMessages, type Relay, type RelayOptions } from './websocket/message-relay.ts'

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
  readonly extraHeaders: Readonly<Record<string, string>>
}

/** Reports to the client that the upstream switched protocols, and joins the two connections. */
export function joinUpgraded(
  socket: Socket,
  outgoing: ServerResponse,
  { idleMs, ...options }: JoinOptions & { readonly idleMs: number },
): Upgrade {
  return {
    keepExtensions: true,
    accepts: () => true,
    join({ answer, upstream, head, guard }, ended) {
      const client = switched(socket, outgoing, answer, options)
      return joinStreams(client, { stream: upstream, head }, { guard, idleMs, ended })
    },
  }
}

/** An upgrade that can be drained. */
export interface MessageUpgrade extends Upgrade {
  /** Ends it once its responses have ended, or after `ms`. */
  drain(ms: number): void
}

/**
 * The same for a WebSocket whose messages are read. Its frames must be readable, so there are no
 * extensions.
 */
export function joinWebSocket(
  socket: Socket,
  outgoing: ServerResponse,
  { relay, ...options }: JoinOptions & { readonly relay: Omit<RelayOptions, 'guard' | 'ended'> },
): MessageUpgrade {
  let joined: Relay | null = null
  let drainMs: number | null = null
  return {
    keepExtensions: false,
    accepts({ headers }) {
      const isWebSocket = headers.upgrade?.toLowerCase() === 'websocket'
      return isWebSocket && headers['sec-websocket-extensions'] === undefined
    },
    join({ answer, upstream, head, guard }, ended) {
      const client = switched(socket, outgoing, answer, options)
      const relayed = joinMessages(client, { stream: upstream, head }, { ...relay, guard, ended })
      joined = relayed
      if (drainMs !== null) relayed.drain(drainMs)
      return () => relayed.end()
    },
    drain(ms) {
      drainMs = ms
      joined?.drain(ms)
    },
  }
}

/** The client's side, once it was told that the protocol is another one. */
function switched(
  socket: Socket,
  outgoing: ServerResponse,
  answer: IncomingMessage,
  { head, extraHeaders }: JoinOptions,
): TunnelEnd {
  outgoing.detachSocket(socket)
  socket.write(switchingHead(answer, extraHeaders), 'latin1')
  return { stream: socket, head }
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
