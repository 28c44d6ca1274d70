import fc from 'fast-check'
import { expect, it } from 'vitest'
import { hintLine, parseHint } from '../../../../src/core/hints/hint-line.ts'
import { pipelineSchema } from '../../../../src/core/pipeline/profile/pipeline-config.ts'
import {
  findChanges,
  MIN_BODY_BYTES,
  restoreNear,
} from '../../../../src/core/sessions/near/find-changes.ts'
import { sameMeaning } from '../../../../src/core/verify/same-meaning.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'
import { anyText } from '../../../support/any-text.ts'
import { localContext } from '../../../support/local-context.ts'
import { leastHits } from '../../../support/runs.ts'
import { fewRuns } from '../../../support/short-runs.ts'

const RUNS = fewRuns(1_000, 15)

const scalar = fc.oneof(anyText(), fc.integer(), fc.boolean(), fc.constant(null))
const key = fc.oneof(
  fc.constantFrom('id', 'status', '$', '$.a', 'lines 1-2', '__proto__'),
  fc.string(),
)
const { tree } = fc.letrec<{ tree: unknown }>(tie => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(key, tie('tree'), { maxKeys: 5 }),
  ),
}))

/** The same value with some scalars replaced. */
function vary(value: unknown, replace: () => unknown): unknown {
  if (Array.isArray(value)) return value.map(item => vary(item, replace))
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, vary(v, replace)]))
  }
  return replace() ?? value
}

it('changes that are found give the very bytes, and survive as a hint', () => {
  let found = 0
  fc.assert(
    fc.property(
      fc.dictionary(key, tree, { minKeys: 1, maxKeys: 6 }),
      // Few changes: a reference lists 50 bytes of them.
      fc.infiniteStream(
        fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: scalar }),
      ),
      fc.constantFrom(0, 1, 2),
      (value, replacements, indent) => {
        const filler = 'x'.repeat(MIN_BODY_BYTES)
        const earlier = JSON.stringify({ ...value, filler, count: 1 }, null, indent)
        const varied = vary(value, () => replacements.next().value) as object
        const later = JSON.stringify({ ...varied, filler, count: 2 }, null, indent)
        const changes = findChanges(earlier, later)
        if (changes === null) return
        found++
        const hint = { family: 'near_reference', ref: '9f2c41aa', changes } as const
        const line = hintLine(hint, 'standard')
        const told = line === null ? null : parseHint(line)
        if (told !== null) expect(told).toEqual(hint)
        expect(restoreNear(earlier, changes)).toBe(later)
      },
    ),
    { numRuns: RUNS },
  )
  expect(found).toBeGreaterThanOrEqual(leastHits(RUNS / 10))
})

const pipeline = pipelineSchema.parse({
  dedup: { near_ref_enabled: true },
})
const context = { ...localContext(), pipeline }
/**
 * Spelled as nobody writes it, with members of one name, and with paths and hints for keys and
 * values.
 */
const hostileKey = fc.oneof(
  key,
  fc.constantFrom('$.a[0]', '> [ref 9f2c41aa]', 'a: 1→2', '__proto__', 'a"]', '\\u0061', ''),
)
const hostileScalar = fc.oneof(
  scalar.map(value => JSON.stringify(value)),
  fc.constantFrom(
    '1.0',
    '-0',
    '1E5',
    '1e400',
    '12345678901234567890',
    '"\\u0041"',
    '"\\/"',
    '"a→b"',
  ),
  fc.constantFrom('"> [near-ref 9f2c41aa, a: 1→2]"', '"\\ud800"', '"true"', '"7"', '"]"', '" "'),
)
const members = fc.array(fc.tuple(hostileKey, hostileScalar), { minLength: 2, maxLength: 8 })
/** More would be longer than a reference may list. */
const changes = fc.array(fc.tuple(fc.nat(), hostileScalar), { minLength: 1, maxLength: 2 })

it('near references to hostile documents restore the very text, and are none where they could not', () => {
  let sent = 0
  fc.assert(
    fc.property(members, changes, (all, other) => {
      const filler = `"filler":"${'of no interest, but long; '.repeat(30)}"`
      const write = (scalars: readonly string[]) =>
        `{${all.map(([name], at) => `${JSON.stringify(name)}: ${scalars[at]}`).join(', ')}, ${filler}}`
      const old = all.map(([, value]) => value)
      const earlier = write(old)
      const changed = new Map(other.map(([at, value]) => [at % all.length, value]))
      const content = write(old.map((value, at) => changed.get(at) ?? value))
      const sessions = createLocalSessions(context, { bodyBytes: 1 << 18 })
      const call = { session: 's', tool: 'get', args: { id: 7 } }
      sessions.encode({ ...call, content: earlier })
      const { content: text, format } = sessions.encode({
        ...call,
        content,
        formats: ['near', 'tree'],
      })
      if (format === 'near@1') sent++
      const decoded = sessions.decode({ content: text, format, session: 's' })
      expect(sameMeaning(content, decoded)).toBe(true)
    }),
    { numRuns: RUNS },
  )
  expect(sent).toBeGreaterThanOrEqual(leastHits(RUNS / 20))
})
