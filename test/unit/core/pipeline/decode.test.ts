import { describe, expect, it } from 'vitest'
import type { AppError } from '../../../../src/core/base/errors.ts'
import { decodeOperation } from '../../../../src/core/operations/decode.ts'
import { OPERATIONS } from '../../../../src/core/operations/registry.ts'
import { decodeContent } from '../../../../src/core/pipeline/decode.ts'
import { decode } from '../../../../src/index.ts'
import { bytesOf, header, inlineRunner } from '../../../support/runner.ts'
import { threadTime } from '../../../support/thread-time.ts'

const MAX_CHARS = 16 * 1024 * 1024

/** A table of one column: every row repeats the column's name once it is JSON. */
const table = (nameLength: number, rows: number) => `${'n'.repeat(nameLength)}${'\n1'.repeat(rows)}`

function failureOf(run: () => unknown): Partial<AppError> {
  try {
    run()
  } catch (error) {
    return error as AppError
  }
  return {}
}

describe('decodeContent', () => {
  it.each([
    ['many rows under a long name', table(8_000, 48_000)],
    ['a text longer than any string', table(1_000_000, 600)],
    ['rows that lack cells', `a,${'n'.repeat(8_000)},b${'\n1,1,'.repeat(20_000)}`],
    ['names that need escapes', `"""${'\\u0000'.repeat(2_000)}"""${'\n1'.repeat(40_000)}`],
  ])('refuses %s before it is written', (_, content) => {
    const started = threadTime()
    expect(failureOf(() => decodeContent(content, 'csv@1', MAX_CHARS))).toMatchObject({
      code: 'payload_too_large',
      detail: expect.stringContaining(String(MAX_CHARS)),
    })
    // Written, they would take seconds and gigabytes.
    expect(threadTime() - started).toBeLessThan(1_000)
  })

  it('gives what is as long as the limit, and nothing longer', () => {
    const content = '[{"a":1},{"a":2}]'
    expect(decodeContent('a\n1\n2', 'csv@1', content.length).content).toBe(content)
    expect(failureOf(() => decodeContent('a\n1\n2', 'csv@1', content.length - 1)).code).toBe(
      'payload_too_large',
    )
  })

  it('gives a text that passed through as it is', () => {
    expect(decodeContent('long text', 'passthrough', 1)).toEqual({
      content: 'long text',
      media_type: 'text/plain',
    })
  })
})

describe('the limit on decoded content', () => {
  const request = { content: table(50_000, 25_000), format: 'csv@1' }

  it('is in force in workers', () => {
    const bytes = bytesOf(JSON.stringify(request))
    const { outcomes } = inlineRunner(OPERATIONS)({
      jobs: [header(decodeOperation.name, bytes)],
      body: bytes.buffer,
      slot: 0,
    })
    expect(outcomes).toMatchObject([{ kind: 'failed', problem: { code: 'payload_too_large' } }])
  })

  it('is in force for programs', () => {
    expect(failureOf(() => decode(request)).code).toBe('payload_too_large')
  })
})
