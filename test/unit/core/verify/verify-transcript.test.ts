import { describe, expect, it } from 'vitest'
import { HINT_FAMILIES } from '../../../../src/core/hints/hint.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import type { TranscriptEntry } from '../../../../src/core/verify/transcript.ts'
import {
  createVerifier,
  type Finding,
  verifyTranscript,
} from '../../../../src/core/verify/verify-transcript.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { type Lines, rewrite } from './lie.ts'
import { LIES_OF_ACCOUNTS } from './lies-of-accounts.ts'
import { LIES_OF_MARKERS } from './lies-of-markers.ts'
import { LIES_OF_NOTES } from './lies-of-notes.ts'
import { LIES_OF_REFERENCES } from './lies-of-references.ts'
import { answerAll, context, type Line, REQUESTS, record } from './recorded.ts'

const recorded = record()

/** The transcript with a change. */
function changed(change: (lines: Lines) => void = () => {}): TranscriptEntry[] {
  const { lines, end, after } = structuredClone(recorded)
  change(lines)
  return [...Object.values(lines), end, after]
}

function verify(entries: readonly TranscriptEntry[]): readonly Finding[] {
  const lines = entries.map((entry, index) => ({ line: index + 1, entry }))
  return verifyTranscript(lines, context.counters)
}

it('finds nothing wrong with what this version answers, whatever the hint', () => {
  const families = Object.values(recorded.lines).flatMap(({ answer }) =>
    answer.hints.map(({ family }) => family),
  )
  expect(new Set(families)).toEqual(new Set(HINT_FAMILIES))
  expect(verify(changed())).toEqual([])
})

it('looks at the last seven calls for a chain of searches', () => {
  const searchedEarlier = ({ items }: Lines) => {
    items.request.tool = 'Grep'
  }
  expect(verify(changed(searchedEarlier))).toEqual([])
})

it('finds nothing wrong with the note of a format whose text has escapes', () => {
  const items = Array.from({ length: 40 }, (_, id) => ({
    id,
    state: id === 6 ? LOOK_ALIKE : 'open',
  }))
  const sessions = createLocalSessions(
    {
      ...context,
      pipeline: pipelineSchema.parse({
        dedup: { hint_verbosity: 'terse' },
        profiles: {
          data: { variants: { list: { endpoint_pattern: 'list', preferred_format: 'md' } } },
        },
      }),
    },
    { bodyBytes: 1 << 20 },
  )
  const request = {
    tool: 'list',
    session: 's',
    content: JSON.stringify(items, null, 2),
  }
  const answer = sessions.encode(request)
  expect(answer.format).toMatch(/escaped@1;/)
  expect(answer.hints).toMatchObject([{ family: 'format' }])
  expect(verify([{ request, answer }])).toEqual([])
})

const LOOK_ALIKE = '> [ref 0a1b2c3d]'

const LIES = [...LIES_OF_REFERENCES, ...LIES_OF_NOTES, ...LIES_OF_MARKERS, ...LIES_OF_ACCOUNTS]

describe('a lie', () => {
  it.each(LIES)('%s (%s) is found', (_, where, family, reason, plant) => {
    const line = Object.keys(recorded.lines).indexOf(where) + 1
    // What comes later changes nothing that is found here.
    const found = verify(changed(plant).slice(0, line)).filter(finding => finding.line === line)
    expect(found).toContainEqual(
      expect.objectContaining({
        session: expect.any(String),
        family,
        reason: expect.stringMatching(reason),
      }),
    )
  })

  it('in a reference over a compaction is found', () => {
    const entries = changed()
    const at = Object.keys(recorded.lines).indexOf('near')
    const found = verify(entries.toSpliced(at, 0, recorded.end))
    expect(found).toContainEqual(
      expect.objectContaining({
        line: at + 2,
        family: 'near_reference',
        reason: expect.stringMatching(/no earlier result/),
      }),
    )
  })

  it('about the partition is found where a compaction was not told', () => {
    const entries = changed().filter(entry => !('event' in entry))
    expect(verify(entries)).toContainEqual(
      expect.objectContaining({ line: entries.length, reason: 'partition is 0, not 1' }),
    )
    const closed = changed().map(entry =>
      'event' in entry ? { ...entry, event: 'close' as const } : entry,
    )
    expect(verify(closed)).toHaveLength(1)
  })
})

it('counts calls that nothing fits', () => {
  const { read, reference } = structuredClone(recorded.lines)
  rewrite(reference, '3 calls ago', '2 calls ago')
  const refused = { request: { session: 's', content: 'a long one' }, answer: null }
  const lies = (entries: TranscriptEntry[]) => verify(entries).map(({ reason }) => reason)
  expect(lies([read, refused, reference])).toEqual([])
  expect(lies([read, reference])).toEqual(['2 calls ago no call had this name'])
})

it('counts hints, those that fail, and what can be redeemed', () => {
  const verifier = createVerifier(context.counters)
  const { read, job, error, reference } = structuredClone(recorded.lines)
  for (const [index, entry] of [read, job, error].entries()) verifier.check({ line: index, entry })
  const { hints, failed, retrievable } = verifier.check({ line: 4, entry: reference })
  expect({ hints, failed }).toEqual({ hints: 1, failed: 0 })
  const { ref } = read.answer
  const { content } = read.request
  expect(retrievable).toEqual([{ line: 4, family: 'reference', id: ref, session: 's', content }])
  rewrite(reference, 'Read', 'Grep')
  reference.request.tool_call_id = 'call-2'
  expect(verifier.check({ line: 5, entry: reference })).toMatchObject({ hints: 1, failed: 1 })
})

it('has nothing to redeem for a hint that cannot be read', () => {
  const verifier = createVerifier(context.counters)
  const { page } = structuredClone(recorded.lines)
  rewrite(page, ' more.', ' left.', 1)
  expect(verifier.check({ line: 1, entry: page })).toMatchObject({
    hints: 2,
    failed: 1,
    retrievable: [],
  })
})

describe('another answer to a retry', () => {
  const { read, job, reference: first } = REQUESTS
  const refused = { tool: 'tail', content: 'a line of a log\n'.repeat(50), budget_tokens: 1 }
  // Counted differently, so that it is no copy of the answer before.
  const retry = { ...first, tokenizer: 'cl100k_base' }
  const TRANSCRIPTS = [
    ['at once', [read, job, first, retry], 2],
    ['after another result', [read, job, first, { ...job, content: 'ok' }, retry], 2],
    ['after a refused call', [read, job, first, refused, retry], 2],
    ['to a call after a refused one', [read, refused, first, job, retry], 2],
    ['to a call after two refused ones', [read, refused, refused, first, job, retry], 3],
  ] as const

  it.each(TRANSCRIPTS)('counts calls as the first one did: %s', (_, requests, ago) => {
    const entries = answerAll(requests)
    expect(entries.at(-1)!.answer!.content).toContain(` ${ago} calls ago`)
    expect(verify(entries)).toEqual([])
  })

  it.each(TRANSCRIPTS)('is held against the results before it: %s', (_, requests, ago) => {
    for (const lie of [ago - 1, ago + 1]) {
      const entries = answerAll(requests)
      const amount = lie === 1 ? '1 call' : `${lie} calls`
      rewrite(entries.at(-1) as Line, `${ago} calls`, amount)
      expect(verify(entries)).toContainEqual(
        expect.objectContaining({
          line: entries.length,
          family: 'reference',
          reason: `${lie} calls ago no call had this name`,
        }),
      )
    }
  })
})
