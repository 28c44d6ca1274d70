import { expect, test, vi } from 'vitest'
import { createLogger } from '../../../src/observability/logger.ts'

test('loggers share one timer, so a process that makes many does not wake more often', () => {
  createLogger('silent')
  const setInterval = vi.spyOn(globalThis, 'setInterval')
  try {
    createLogger('silent')
    createLogger('fatal')
    expect(setInterval).not.toHaveBeenCalled()
  } finally {
    setInterval.mockRestore()
  }
})

test('loggers that share a destination keep levels of their own', () => {
  const quiet = createLogger('silent')
  const loud = createLogger('silent')
  loud.level = 'error'
  expect([quiet.level, loud.level]).toEqual(['silent', 'error'])
})
