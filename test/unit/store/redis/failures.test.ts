import { describe, expect, it } from 'vitest'
import { failureOf, isLastingRefusal } from '../../../../src/store/redis/failures.ts'

describe('an error that is an answer', () => {
  it.each([
    ['NOAUTH Authentication required.', true, true],
    ['WRONGPASS invalid username-password pair', true, true],
    ["READONLY You can't write against a read only replica.", true, false],
    ['MISCONF Redis is configured to save RDB snapshots', true, false],
    ['LOADING Redis is loading the dataset in memory', false, false],
    ['CLUSTERDOWN The cluster is down', false, false],
    ['Socket closed unexpectedly', false, false],
  ])('%s lasts: %s, and if another server may take over: %s', (text, alone, moving) => {
    const failure = failureOf(new Error(text))
    expect(failure.reason).toBe('unavailable')
    expect(isLastingRefusal(failure, false)).toBe(alone)
    expect(isLastingRefusal(failure, true)).toBe(moving)
  })
})
