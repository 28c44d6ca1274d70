import type { RecordedCall } from './recorded-call.ts'

/** How an answer travels: a line of stdio, or the response to a POST. */
export interface Channel {
  /** Adds a header to the response. Nothing over stdio. */
  header(name: string, value: string): void
  /** Opens a stream before there is a message for it. Nothing over stdio. */
  open(): void
  /** Sends one message. No other follows the last. */
  message(json: string, last: boolean): void
  /** Sends bytes as they are. */
  raw(bytes: string | Uint8Array): void
  /** Ends the response; over stdio, closes the stdout of a process that lives on. */
  end(): void
  /** Kills the process, or cuts the connection. */
  die(): void
  /** Answers an HTTP status, and no message. Nothing over stdio. */
  status(status: number, headers?: Readonly<Record<string, string>>): void
  /** Resolves when the client has closed the response or the pipe. */
  readonly gone: Promise<void>
}

/** A recorded call and what the upstream does about it: anything, at any time, or nothing. */
export class Exchange {
  readonly call: RecordedCall
  readonly channel: Channel

  constructor(call: RecordedCall, channel: Channel) {
    this.call = call
    this.channel = channel
  }

  /** Answers a result, given as JSON, with the id as the client spelled it. */
  result(json: string): void {
    this.#answer('result', json)
  }

  /** Answers an error, given as JSON. */
  error(json: string): void {
    this.#answer('error', json)
  }

  /** Sends a notification before the result; `params` is JSON. */
  notify(method: string, params: string): void {
    this.send(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`)
  }

  /** Sends any message before the result: a request, an answer with a foreign id. */
  send(json: string): void {
    this.channel.message(json, false)
  }

  #answer(kind: 'result' | 'error', json: string): void {
    this.channel.message(`{"jsonrpc":"2.0","id":${this.call.id ?? 'null'},"${kind}":${json}}`, true)
  }
}
