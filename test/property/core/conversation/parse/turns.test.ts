import fc from 'fast-check'
import { expect, it } from 'vitest'
import {
  type EarlierTurn,
  type ScannedRequest,
  scanRequest,
} from '../../../../../src/core/conversation/parse/scan-request.ts'
import { commonBytes } from '../../../../../src/core/conversation/parse/shared-messages.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { leastHits, runs } from '../../../../support/runs.ts'
import { someTurns } from './conversations.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }

/** All that is known of a request, as plain data. */
function told(scanned: ScannedRequest | null) {
  if (scanned === null) return null
  const { body, results, checkpoint: _, ...rest } = scanned
  const texts = results.map(each => ({
    ...each,
    text: each.text(),
    args: each.args(),
    argsBytes: [...each.argsBytes()],
    tool: each.tool,
    callId: each.callId,
    callsAhead: each.callsAhead,
    isError: each.isError,
  }))
  return { ...rest, texts }
}

/** An earlier turn as the scan of a body wants it. */
function earlierTurn(scanned: ScannedRequest, body: Buffer): EarlierTurn {
  const { read, checkpoint } = scanned
  return { items: read, bytes: commonBytes(scanned.body, body), checkpoint }
}

it('reads a turn from the checkpoint of any earlier one as from its first message', () => {
  let continued = 0
  fc.assert(
    fc.property(someTurns, ({ route, bodies }) => {
      const before: ScannedRequest[] = []
      for (const each of bodies) {
        const body = Buffer.from(bytesOf(JSON.stringify(each)))
        const expected = told(scanRequest(body, route, LIMITS))
        const none = { items: [], bytes: 0, checkpoint: null }
        for (const earlier of [none, ...before.map(turn => earlierTurn(turn, body))]) {
          const scanned = scanRequest(body, route, LIMITS, earlier)
          expect(told(scanned)).toEqual(expected)
          if (scanned === null) break
          const { messages = 0 } = earlier.checkpoint ?? {}
          const isContinued =
            messages > 0 && scanned.read[messages - 1] === earlier.items[messages - 1]
          if (isContinued) continued++
          if (earlier === none || isContinued) before.push(scanned)
        }
      }
    }),
    { numRuns: runs(300) },
  )
  expect(continued).toBeGreaterThan(leastHits(runs(300)))
})
