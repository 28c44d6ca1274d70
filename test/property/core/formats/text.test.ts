import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { classify } from '../../../../src/core/classify/classify.ts'
import { JSON_FORMATS } from '../../../../src/core/formats/json/registry.ts'
import { TEXT_FORMATS } from '../../../../src/core/formats/text/registry.ts'
import type { TextTools } from '../../../../src/core/formats/text/text-format.ts'
import { lengthCounter } from '../../../support/length-counter.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'
import { arbitraryToolText } from './arbitrary-text.ts'
import { arbitraryEdit, arbitraryText } from './arbitrary-value.ts'

const RUNS = fewRuns(1_500, 40)

/** Every saving counts, so that as much as possible is written. */
const tools: TextTools = { counter: lengthCounter(1), formats: JSON_FORMATS }

/**
 * The least share of the random texts that each format must write, lest the test prove nothing.
 */
const LEAST_WRITTEN: Readonly<Record<string, number>> = {
  md: 0.06,
  numbered: 0.03,
  prefixed: 0.08,
  templated: 0.01,
  ndjson: 0.014,
  diff: 0.035,
  terminal: 0.014,
  mcp: 0,
  strings: 0,
}

describe.each(TEXT_FORMATS)('$id', format => {
  it('gives back every text that it writes', () => {
    let written = 0
    fc.assert(
      fc.property(arbitraryToolText, text => {
        if (!format.accepts(text, classify(text, undefined))) return
        for (const { content, style } of format.encode(text, tools)) {
          written++
          expect(decodeOrNull(content, style, text.length)).toBe(text)
          const restores = (other: string) => format.restores?.(content, style, text.length, other)
          expect(restores(text)).not.toBe(false)
          expect(restores(`${text}\n`)).not.toBe(true)
          expect(restores(text.slice(0, -1))).not.toBe(true)
        }
      }),
      { numRuns: RUNS },
    )
    expect(Object.keys(LEAST_WRITTEN)).toContain(format.id)
    expect(written).toBeGreaterThanOrEqual(leastHits(RUNS * LEAST_WRITTEN[format.id]!))
  })

  it('reads altered text as some other text, or says that it cannot', () => {
    fc.assert(
      fc.property(
        arbitraryToolText,
        fc.array(arbitraryEdit, { minLength: 1 }),
        fc.string({ maxLength: 6 }),
        (text, edits, end) => {
          for (const { content, style } of format.encode(text, tools)) {
            decodeOrNull(
              edits.reduce((edited, edit) => edit(edited), content),
              style,
              100_000,
            )
            decodeOrNull(content, style + end, 100_000)
            decodeOrNull(content, style.slice(end.length), 100_000)
          }
        },
      ),
      { numRuns: RUNS },
    )
  })

  it('knows without writing it whether an altered text is decoded to this one', () => {
    const { restores } = format
    if (restores === undefined) return
    let equal = 0
    fc.assert(
      fc.property(
        arbitraryToolText,
        fc.array(arbitraryEdit, { maxLength: 1 }),
        fc.array(arbitraryEdit, { maxLength: 1 }),
        (text, contentEdits, textEdits) => {
          for (const { content, style } of format.encode(text, tools)) {
            const edited = contentEdits.reduce((all, edit) => edit(all), content)
            const wanted = textEdits.reduce((all, edit) => edit(all), text)
            const isEqual = decodeOrNull(edited, style, text.length * 2) === wanted
            if (isEqual) equal++
            expect(falseIfUndecodable(() => restores(edited, style, text.length * 2, wanted))).toBe(
              isEqual,
            )
          }
        },
      ),
      { numRuns: RUNS },
    )
    expect(equal).toBeGreaterThanOrEqual(leastHits(RUNS * LEAST_WRITTEN[format.id]! * 0.2))
  })

  it('reads any text as a text, or says that it cannot', () => {
    fc.assert(
      fc.property(fc.oneof(arbitraryText, arbitraryToolText), fc.string(), (text, style) => {
        for (const each of [
          '',
          'arrow',
          'dots',
          'dots-blocks',
          's-t-c',
          'l-r_4-2l-p',
          'compact,csv@1',
          '1_1_compact,csv@1',
          'prefixed@1,dots',
          '2-2-nds-bcno-nbaa-1,tree@2',
          '4-0-dss-fsnm-nnnn-0,json_compact@1',
          style,
        ]) {
          decodeOrNull(text, each, 100_000)
        }
      }),
      { numRuns: RUNS },
    )
  })

  /** `null` if it says so properly; never more characters than were asked for. */
  function decodeOrNull(content: string, style: string, maxChars: number): string | null {
    try {
      const text = format.decode(content, style, maxChars)
      expect(text.length).toBeLessThanOrEqual(maxChars)
      return text
    } catch (error) {
      expect(error).toBeInstanceOf(AppError)
      expect(['not_decodable', 'payload_too_large']).toContain((error as AppError).code)
      return null
    }
  }
})

/** What a function returns; `false` if it says properly that a text cannot be decoded. */
function falseIfUndecodable(restores: () => boolean): boolean {
  try {
    return restores()
  } catch (error) {
    expect(error).toBeInstanceOf(AppError)
    return false
  }
}
