import { PassThrough } from 'node:stream'
import { clientOver, type LinesClient } from '../../../bench/mcp/lines-client.ts'

/** A client in the process of its server. */
export interface LocalClient extends LinesClient {
  readonly input: PassThrough
  readonly output: PassThrough
  /** As if its process was killed: nothing is sent or read any more. */
  vanish(): void
}

export function createLocalClient(): LocalClient {
  const [input, output] = [new PassThrough(), new PassThrough()]
  return Object.assign(clientOver(input, output), {
    ...{ input, output },
    vanish() {
      input.destroy()
      output.destroy()
    },
  })
}
