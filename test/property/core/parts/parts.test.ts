import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../../../../src/core/base/errors.ts'
import { type PartQuery, parsePart } from '../../../../src/core/parts/parse-part.ts'
import { selectPart } from '../../../../src/core/parts/select-part.ts'
import { runs } from '../../../support/runs.ts'

const utf8 = new TextEncoder()

/** The part as text; `null` if it is refused. */
function part(body: string, query: PartQuery): string | null {
  try {
    return new TextDecoder().decode(selectPart(utf8.encode(body), parsePart(query)!).content)
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_request') return null
    throw error
  }
}

/** Lines with what ends them. */
function linesOf(body: string): string[] {
  return body.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

const someText = fc
  .array(fc.constantFrom('a', 'b', 'ab', 'B', 'é', '😀', '\n', '\n', '\n\n', '\r\n', 'x y'), {
    maxLength: 60,
  })
  .map(parts => parts.join(''))
const from = fc.nat({ max: 20 })

describe('lines and bytes are slices', () => {
  test('ranges of lines are slices of the text', () => {
    fc.assert(
      fc.property(someText, from, fc.option(from), (body, first, more) => {
        const lines = linesOf(body)
        const a = first + 1
        const query = more === null ? `${a}-` : `${a}-${a + more}`
        const wanted = lines.slice(first, more === null ? undefined : first + more + 1).join('')
        expect(part(body, { lines: query })).toBe(a > lines.length ? null : wanted)
        if (more === null) expect(part(body, { lines: `${a}` })).toBe(lines[first] ?? null)
        const last = lines.length === 0 ? null : lines.slice(-a).join('')
        expect(part(body, { lines: `-${a}` })).toBe(last)
      }),
    )
  })

  test('ranges of bytes are slices of the text', () => {
    fc.assert(
      fc.property(someText, from, from, (text, first, more) => {
        const body = text.replaceAll(/[^\n-~]/g, '?')
        const end = first + more + 1
        const wanted = first >= body.length ? null : body.slice(first, end)
        expect(part(body, { bytes: `${first}-${first + more}` })).toBe(wanted)
        expect(part(body, { bytes: `-${end}` })).toBe(body === '' ? null : body.slice(-end))
      }),
    )
  })
})

const key = fc.constantFrom('a', 'b', 'c d', "it's", 'q"', '\\', 'é', '', '__proto__x')
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.constantFrom(null, true, 0, -1.5, 'x', '}]"\\{[', 'é'),
    fc.array(tie('tree'), { maxLength: 5 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
  ),
}))
type Step = { name: string } | { at: number } | { start: number | null; end: number | null }
const small = fc.integer({ min: -4, max: 4 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ name: key }),
  fc.record({ at: small }),
  fc.record({ start: fc.option(small), end: fc.option(small) }),
)

/** What the steps meet in a plain value. */
function model(values: readonly unknown[], steps: readonly Step[]): readonly unknown[] {
  const [first, ...rest] = steps
  if (first === undefined) return values
  const next = values.flatMap(value => {
    if ('name' in first) {
      const plain = typeof value === 'object' && value !== null && !Array.isArray(value)
      return plain && Object.hasOwn(value, first.name)
        ? [(value as Record<string, unknown>)[first.name]]
        : []
    }
    if (!Array.isArray(value)) return []
    if ('at' in first) {
      const at = first.at < 0 ? value.length + first.at : first.at
      return at in value ? [value[at]] : []
    }
    return value.slice(first.start ?? 0, first.end ?? undefined)
  })
  return model(next, rest)
}

function pathOf(steps: readonly Step[]): string {
  const one = (step: Step): string => {
    if ('at' in step) return `[${step.at}]`
    if ('start' in step) return `[${step.start ?? ''}:${step.end ?? ''}]`
    if (/^[a-z]$/.test(step.name)) return `.${step.name}`
    const quoted = JSON.stringify(step.name)
    if (step.name.includes('"')) return `[${quoted}]`
    return `['${quoted.slice(1, -1).replaceAll("'", "\\'")}']`
  }
  return `$${steps.map(one).join('')}`
}

describe('paths', () => {
  test('a path meets what a plain walk over the parsed value meets', () => {
    fc.assert(
      fc.property(
        tree,
        fc.array(step, { maxLength: 4 }),
        fc.constantFrom(undefined, 1, '\t'),
        (value, steps, indent) => {
          const found = model([value], steps)
          const list = steps.some(each => 'start' in each)
          const answer = part(JSON.stringify(value, null, indent), { path: pathOf(steps) })
          if (list) expect(JSON.parse(answer ?? 'refused')).toEqual(found)
          else if (found.length === 0) expect(answer).toBeNull()
          else expect(JSON.parse(answer ?? 'refused')).toEqual(found[0])
        },
      ),
      { numRuns: runs(1000) },
    )
  })

  test('of equal keys, however they are escaped, the last counts', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(key, fc.nat()), { minLength: 1, maxLength: 6 }), members => {
        const escaped = (name: string) =>
          [...name].map(c => `\\u${c.codePointAt(0)!.toString(16).padStart(4, '0')}`).join('')
        const text = `{${members.map(([name, n], i) => `${i % 2 ? JSON.stringify(name) : `"${escaped(name)}"`} : ${n}`).join(' , ')}}`
        // Not JSON.parse: Node 26.10 reads such a key as a backslash once it has seen
        // {"":0,"b":1,"\\\\":2}.
        for (const [name, last] of new Map(members)) {
          expect(part(text, { path: pathOf([{ name }]) })).toBe(String(last))
        }
      }),
    )
  })

  test('no text makes it fail in another way than by refusing', () => {
    const piece = fc.constantFrom('{', '}', '[', ']', '"', ':', ',', '\\', '1', 'a', '"a"', ' ')
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 20 }),
        fc.array(step, { maxLength: 3 }),
        (parts, steps) => {
          part(parts.join(''), { path: pathOf(steps) })
        },
      ),
      { numRuns: runs(1000) },
    )
  })
})

describe('grep', () => {
  test('it shows the lines that a plain filter keeps, with their context', () => {
    const needle = fc.constantFrom('a', 'ab', 'B', 'é', 'aa', 'aab', 'x y', '\r')
    fc.assert(
      fc.property(
        someText,
        needle,
        fc.nat({ max: 3 }),
        fc.boolean(),
        (body, text, context, fold) => {
          const query = { grep: text, context: String(context), ignore_case: String(fold) }
          expect(part(body, query)).toBe(grepModel(body, text, context, fold))
        },
      ),
      { numRuns: runs(1000) },
    )
  })
})

function grepModel(body: string, text: string, context: number, fold: boolean): string {
  const lower = (line: string) => (fold ? line.replaceAll(/[A-Z]/g, c => c.toLowerCase()) : line)
  const lines = linesOf(body).map(line => line.replace(/\n$/, ''))
  const hits = lines.map(line => lower(line).includes(lower(text)))
  let out = ''
  let last = 0
  for (const [i, line] of lines.entries()) {
    const near = hits.slice(Math.max(0, i - context), i + context + 1).includes(true)
    if (!near) continue
    if (last > 0 && i + 1 > last + 1) out += '--\n'
    out += `${i + 1}${hits[i] === true ? ':' : '-'}${line}\n`
    last = i + 1
  }
  return out
}
