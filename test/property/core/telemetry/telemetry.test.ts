import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NAME_WORDS } from '../../../../src/core/telemetry/anonymous-name.ts'
import { endpointClass } from '../../../../src/core/telemetry/endpoint-class.ts'
import { anonymous, type TelemetryEvent } from '../../../../src/core/telemetry/event.ts'
import { parseEventLine, parseSummaryLine } from '../../../../src/core/telemetry/parse-line.ts'
import { createRepeats } from '../../../../src/core/telemetry/repeats.ts'
import { createRollup } from '../../../../src/core/telemetry/rollup.ts'
import { addSavings, noSavings, savingsOf } from '../../../../src/core/telemetry/savings.ts'
import { SHELL_PROGRAMS } from '../../../../src/core/telemetry/shell-programs.ts'
import { sessionSummary } from '../../../../src/core/telemetry/summary.ts'
import { anyText } from '../../../support/any-text.ts'
import { runs } from '../../../support/runs.ts'
import { eventOf } from '../../../unit/core/telemetry/events.ts'

/** Events whose figures add up, as the writer makes them. */
const event: fc.Arbitrary<TelemetryEvent> = fc
  .record({
    layer: fc.constantFrom('L0', 'L1', 'L2', 'L3'),
    final: fc.nat(1_000),
    dedup: fc.nat(1_000),
    encoder: fc.nat(1_000),
    elided: fc.nat(1_000),
    endpoint: fc.constantFrom('Read', 'git_log', 'ls'),
    partition: fc.nat(3),
    ts_ms: fc.nat(1_000_000),
  })
  .map(({ layer, final, dedup, encoder, elided, endpoint, partition, ts_ms }) => {
    const isHit = layer === 'L0'
    return eventOf({
      layer_used: layer,
      is_dedup_hit: isHit,
      tokens_baseline: final + encoder + (isHit ? dedup : elided),
      tokens_final: final,
      dedup_tokens_saved: isHit ? dedup : 0,
      encoder_tokens_saved: encoder,
      elided_tokens_saved: isHit ? 0 : elided,
      endpoint_class: endpoint,
      context_partition: partition,
      ts_ms,
    })
  })

/** Marks that no table has, so that a name with one would show. */
const secret = fc
  .stringMatching(/^[a-z]{4,8}$/)
  .map(letters => `zq${letters}`)
  .filter(word => !NAME_WORDS.has(word) && !SHELL_PROGRAMS.has(word))

/** Shell text that puts a secret wherever words can be. */
const command = fc
  .array(
    fc.oneof(
      secret,
      fc.constantFrom(
        'git',
        'npm',
        'run',
        'test',
        'sudo',
        'timeout',
        '-u',
        '-C',
        '5',
        'cd',
        'bash',
      ),
      fc.constantFrom(
        '-c',
        '&&',
        ';',
        '|',
        "'",
        '"',
        '\\',
        '\n',
        '#',
        '(',
        ')',
        '=',
        'A=',
        './',
        '/',
      ),
    ),
    { maxLength: 12 },
  )
  .chain(words => fc.constantFrom(words.join(' '), words.join('')))

const toolName = fc
  .array(fc.oneof(secret, fc.constantFrom('mcp__', '__', 'get', '_', 'List', ' ', '-', 'é')), {
    minLength: 1,
    maxLength: 8,
  })
  .map(parts => parts.join(''))

describe('names in telemetry', () => {
  it('are made of words of tables and hashes, whatever a client calls its tools', () => {
    fc.assert(
      fc.property(toolName, tool => {
        const name = endpointClass(tool, {})
        expect(anonymous.safeParse(name).success).toBe(true)
        expect(name).not.toContain('zq')
        for (const part of name.split('_').filter(each => each !== '')) {
          expect(NAME_WORDS.has(part) || /^([px][0-9a-f]{6}|mcp|unknown)$/.test(part)).toBe(true)
        }
      }),
    )
  })

  it('have nothing of a command but names of tables', () => {
    fc.assert(
      fc.property(command, text => {
        const name = endpointClass('Bash', { command: text })
        expect(name).toMatch(/^(shell|shell_other|shell_script|git|npm|npm_run|npm_test|test)$/)
      }),
      { numRuns: runs(500) },
    )
  })

  it('can be made for anything', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 2 }), (tool, args) => {
        expect(anonymous.safeParse(endpointClass(tool, args)).success).toBe(true)
        expect(anonymous.safeParse(endpointClass('shell', { command: tool })).success).toBe(true)
      }),
    )
  })
})

describe('savings', () => {
  it('make up the whole by branch', () => {
    fc.assert(
      fc.property(fc.array(event, { minLength: 1 }), events => {
        const sums = noSavings()
        for (const each of events) addSavings(sums, each, 1)
        const { dedup, encoder, omission, combined, hitShare } = savingsOf(sums)
        if (combined === null || dedup === null || hitShare === null) return
        const missed = (1 - hitShare) * ((encoder ?? 0) + (omission ?? 0))
        expect(dedup + missed).toBeCloseTo(combined, 9)
        const final = events.reduce((sum, { tokens_final }) => sum + tokens_final, 0)
        expect(sums.final).toBe(final)
      }),
    )
  })

  it('are summed up the same in any order', () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1 }),
        fc.infiniteStream(fc.nat()),
        (events, keys) => {
          const keyed = events.map(each => ({ each, key: keys.next().value as number }))
          const summaryOf = (list: readonly TelemetryEvent[]) => {
            const rollup = createRollup()
            for (const each of list) rollup.add(each)
            return rollup.summary('0')
          }
          const shuffled = keyed.sort((a, b) => a.key - b.key).map(({ each }) => each)
          const summary = summaryOf(events)
          expect(summaryOf(shuffled)).toEqual(summary)
          expect(sessionSummary.parse(summary)).toEqual(summary)
        },
      ),
    )
  })
})

describe('repeats', () => {
  it('are those of a plain search', () => {
    const results = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.nat(1)))
    fc.assert(
      fc.property(results, list => {
        const sorted = list.toSorted(([, a], [, b]) => a - b)
        const repeats = createRepeats()
        sorted.forEach(([content, partition], index) => {
          const before = sorted.slice(0, index).filter(([, other]) => other === partition)
          const last = before.findLastIndex(([other]) => other === content)
          const between = new Set(before.slice(last + 1).map(([other]) => other))
          expect(repeats.next(content, partition)).toBe(last === -1 ? undefined : between.size)
        })
      }),
    )
  })
})

describe('lines of telemetry', () => {
  it('come back as they were written', () => {
    fc.assert(
      fc.property(event, each => {
        expect(parseEventLine(JSON.stringify(each))).toEqual({ ok: true, value: each })
      }),
    )
  })

  it('are passed over, never thrown at, where they are damaged', () => {
    const line = event.map(each => JSON.stringify(each))
    const damaged = fc
      .tuple(line, fc.nat(), fc.nat(8), anyText({ maxLength: 4 }))
      .map(([text, at, length, inserted]) => {
        const start = at % text.length
        return text.slice(0, start) + inserted + text.slice(start + length)
      })
    const value = fc.oneof(
      fc.constantFrom(-1, 1e300, 0.5, null, '', 'NaN', '\0', true, [], {}),
      fc.jsonValue(),
    )
    const wrong = fc
      .tuple(event, fc.constantFrom(...Object.keys(eventOf())), value)
      .map(([each, key, other]) => JSON.stringify({ ...each, [key]: other }))
    fc.assert(
      fc.property(fc.oneof(damaged, wrong, fc.string(), fc.json()), text => {
        const parsed = parseEventLine(text)
        parseSummaryLine(text)
        if (!parsed.ok) return
        const { tokens_baseline, tokens_final, sample_rate_applied } = parsed.value
        expect(tokens_final).toBeGreaterThanOrEqual(0)
        expect(tokens_baseline).toBeGreaterThanOrEqual(tokens_final)
        expect(1 / sample_rate_applied).toBeLessThanOrEqual(10_000)
      }),
      { numRuns: runs(500) },
    )
  })
})
