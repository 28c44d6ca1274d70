import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { messagePieces } from '../../../../../src/core/conversation/parse/shared-messages.ts'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'
import { literalOf, splice } from '../../../../../src/core/json/bytes/splice.ts'
import { runs } from '../../../../support/runs.ts'
import { ROUTES, someRequest } from './conversations.ts'
import { generator, writeLoosely } from './loose-json.ts'
import { walk } from './plain-walk.ts'

const LIMITS = { maxBytes: 1 << 24, maxDepth: 64, maxValues: 100_000 }
const seed = fc.integer()
const utf8 = new TextEncoder()
const read = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes))

/**
 * New texts, every one another; some with what must be escaped, some with half a surrogate pair.
 */
const newText = (i: number): string => `new ${i} "${['\\', '\n', '\ud800', '😀', ''][i % 5]}`

function replaceAll(body: Uint8Array, route: RouteName) {
  const results = scanRequest(body, route, LIMITS)?.results ?? []
  const replacements = results.map(({ start, end }, i) => {
    const text = newText(i)
    return { start, end, text, literal: literalOf(text) }
  })
  return { results, replacements, out: splice(body, replacements) }
}

describe('requests written in any way', () => {
  it('have the results that a walk over the parsed body finds', () => {
    fc.assert(
      fc.property(someRequest, seed, ({ route, request }, how) => {
        const body = utf8.encode(writeLoosely(request, how))
        const found = scanRequest(body, route, LIMITS)
        const wanted = walk(route, read(body))
        expect(found === null).toBe(wanted === null)
        const seen = (found?.results ?? []).map(each => ({
          message: each.message,
          block: each.block,
          part: each.part,
          text: each.text(),
          tool: each.tool,
          callId: each.callId,
          args: each.args(),
          isError: each.isError,
          inCachedPrefix: each.inCachedPrefix,
        }))
        expect(seen).toEqual((wanted ?? []).map(({ replace, ...each }) => each))
      }),
      { numRuns: runs(300) },
    )
  })

  it('change in the texts of results and nowhere else', () => {
    fc.assert(
      fc.property(someRequest, seed, ({ route, request }, how) => {
        const body = utf8.encode(writeLoosely(request, how))
        const { replacements, out } = replaceAll(body, route)
        const wanted = read(body)
        for (const [i, each] of (walk(route, wanted) ?? []).entries()) each.replace(newText(i))
        expect(read(out)).toEqual(wanted)
        expect(withoutTexts(out, moved(replacements))).toEqual(withoutTexts(body, replacements))
      }),
      { numRuns: runs(300) },
    )
  })

  it('stay as they are where every text stays', () => {
    fc.assert(
      fc.property(someRequest, seed, ({ route, request }, how) => {
        const body = utf8.encode(writeLoosely(request, how))
        const results = scanRequest(body, route, LIMITS)?.results ?? []
        const same = results.map(({ start, end }) => ({
          start,
          end,
          literal: body.slice(start, end),
        }))
        expect(splice(body, same)).toBe(body)
      }),
    )
  })
})

describe('bodies with planted faults', () => {
  it('are refused, or read as JSON.parse reads them', () => {
    fc.assert(
      fc.property(someRequest, seed, fc.integer({ min: 1, max: 4 }), (each, how, faults) => {
        const body = damaged(utf8.encode(writeLoosely(each.request, how)), how, faults)
        const { results, out } = replaceAll(body, each.route)
        if (results.length === 0) return
        const wanted = read(body)
        for (const [i, found] of results.entries()) {
          const walked = walk(each.route, wanted)?.find(
            it =>
              it.message === found.message && it.block === found.block && it.part === found.part,
          )
          expect(walked?.text).toBe(found.text())
          walked?.replace(newText(i))
        }
        expect(read(out)).toEqual(wanted)
      }),
      { numRuns: runs(600) },
    )
  })

  it('do no harm as random bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom(...ROUTES), (body, route) => {
        expect(replaceAll(body, route).out).toBe(body)
      }),
    )
  })
})

describe('messages of one conversation', () => {
  it('have the same bytes without breakpoints, wherever those stand', () => {
    const message = fc.record({ text: fc.constantFrom('a', 'b'), marks: fc.nat({ max: 3 }) })
    fc.assert(
      fc.property(message, message, (one, two) => {
        const [first, second] = [one, two].map(each => messagePieces(scanOf([each]), 0))
        expect(Buffer.concat(first!).equals(Buffer.concat(second!))).toBe(one.text === two.text)
      }),
    )
  })
})

/**
 * A request whose messages have breakpoints as their first member, their last, between, or nowhere.
 */
function scanOf(turn: readonly { readonly text: string; readonly marks: number }[]) {
  const mark = '"cache_control":{"type":"ephemeral"}'
  const blocks = [
    (text: string) => `{"type":"text","text":"${text}"}`,
    (text: string) => `{${mark},"type":"text","text":"${text}"}`,
    (text: string) => `{"type":"text",${mark},"text":"${text}"}`,
    (text: string) => `{"type":"text","text":"${text}" , ${mark}}`.replace('" ,', '",'),
  ]
  const messages = turn.map(
    ({ text, marks }) => `{"role":"user","content":[${blocks[marks]!(text)}]}`,
  )
  const body = utf8.encode(`{"messages":[${messages.join(',')}]}`)
  return scanRequest(body, 'anthropic_messages', LIMITS)!
}

/** Where the texts lie after a splice. */
function moved(replacements: readonly { start: number; end: number; text: string }[]) {
  let shift = 0
  return replacements.map(({ start, end, text }) => {
    const length = utf8.encode(JSON.stringify(text)).length
    const place = { start: start + shift, end: start + shift + length }
    shift += length - (end - start)
    return place
  })
}

function withoutTexts(body: Uint8Array, places: readonly { start: number; end: number }[]): string {
  const gaps = [...places.map(({ start }) => start), body.length]
  const from = [0, ...places.map(({ end }) => end)]
  return gaps.map((end, i) => Buffer.from(body.subarray(from[i], end)).toString('hex')).join(' ')
}

/** Bytes changed, taken out, or put in, some of which are likely to matter. */
function damaged(body: Uint8Array, seed: number, faults: number): Uint8Array {
  const below = generator(seed)
  const bytes = [...body]
  const likely = [...utf8.encode('"\\{}[]:,0te-.'), 0, 0x0a, 0xff, 0xc3]
  for (let i = 0; i < faults; i++) {
    const at = below(bytes.length + 1)
    const from = below(bytes.length + 1)
    const some = bytes.slice(from, from + below(30))
    const choice = below(4)
    if (choice === 0) bytes.splice(at, 1, likely[below(likely.length)]!)
    else if (choice === 1) bytes.splice(at, below(20))
    else if (choice === 2) bytes.splice(at, 0, likely[below(likely.length)]!)
    else bytes.splice(at, 0, ...some)
  }
  return Uint8Array.from(bytes)
}
