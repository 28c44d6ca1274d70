import { describe, expect, it } from 'vitest'
import { newFrom } from '../../../../../src/core/conversation/parse/last-turn.ts'
import type { ScannedRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'

/** The first new one of results in these messages, of so many. */
function of(messages: number, ...results: number[]): number {
  const scanned = {
    results: results.map(message => ({ message })),
    messages: Array.from({ length: messages }, () => ({ start: 0, end: 0 })),
  } as unknown as Pick<ScannedRequest, 'results' | 'messages'>
  return newFrom(scanned)
}

describe('the results of the last turn', () => {
  it('are those of the last message, or of the last messages', () => {
    expect(of(4, 1, 3, 3)).toBe(1)
    expect(of(6, 1, 3, 4, 5)).toBe(1)
    expect(of(2, 1)).toBe(0)
  })

  it('are none if a message comes after all results', () => {
    expect(of(4, 1, 2)).toBe(2)
    expect(of(3)).toBe(0)
  })

  it('are only the last one if each comes after its own call', () => {
    expect(of(6, 1, 3, 5)).toBe(2)
  })
})
