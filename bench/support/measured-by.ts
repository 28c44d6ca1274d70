import type { Server } from './processes.ts'
import type { Measured } from './session-server.ts'

/** What the service measured since it was last asked. */
export async function measuredBy({ port }: Server): Promise<Measured> {
  const answer = await fetch(`http://127.0.0.1:${port}/measured`)
  return (await answer.json()) as Measured
}
