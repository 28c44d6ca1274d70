import fc from 'fast-check'
import { expect, it } from 'vitest'
import { findChanges } from '../../../src/core/dedup/near/find-changes.ts'
import { restoreNear } from '../../../src/core/dedup/near/restore-near.ts'
import { parseHint } from '../../../src/core/hints/parse-hint.ts'
import { hintLine } from '../../../src/core/hints/render-hint.ts'

const scalar = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
)
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
      fc.infiniteStream(fc.option(scalar, { freq: 3 })),
      fc.constantFrom(0, 1, 2),
      (value, replacements, indent) => {
        const earlier = JSON.stringify(value, null, indent)
        const later = JSON.stringify(
          vary(value, () => replacements.next().value),
          null,
          indent,
        )
        const changes = findChanges(earlier, later, { maxDeltaBytes: 500, minBodyBytes: 2 })
        if (changes === null) return
        found++
        const hint = { family: 'near_reference', ref: '9f2c41aa', changes } as const
        const line = hintLine(hint, 'standard')
        const told = line === null ? null : parseHint(line)
        if (told !== null) expect(told).toEqual(hint)
        expect(restoreNear(earlier, changes)).toBe(later)
      },
    ),
    { numRuns: 1000 },
  )
  expect(found).toBeGreaterThan(100)
})
