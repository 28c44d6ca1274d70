import fc from 'fast-check'
import { arbitraryToolText } from '../../formats/arbitrary-text.ts'

const rows = fc
  .array(fc.record({ id: fc.nat(99), name: fc.string({ maxLength: 5 }), ok: fc.boolean() }), {
    minLength: 3,
    maxLength: 25,
  })
  .map(all => JSON.stringify(all))

const text = fc.oneof(rows, rows, arbitraryToolText, fc.string({ maxLength: 20 }))
const odd = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(null, 1, {}, []))
const id = fc.constantFrom<unknown>('c1', 'c2', '', '__proto__', 7, null)
const name = fc.constantFrom<unknown>('Read', 'list', 'headroom_retrieve', 'mcp__x__y', '', 3)
const extra = fc.dictionary(
  fc.constantFrom('name', 'cache_control', 'citations', '__proto__', 'x', 'type2'),
  odd,
  { maxKeys: 2 },
)

/** An object whose fields stand in any order. */
function fields(known: Record<string, fc.Arbitrary<unknown>>, required: readonly string[] = []) {
  return fc
    .tuple(fc.record(known, { requiredKeys: [...required] }), extra, fc.boolean())
    .map(([own, other, isFirst]) => (isFirst ? { ...other, ...own } : { ...own, ...other }))
}

const { part } = fc.letrec(tie => ({
  part: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fields({ type: fc.constant('text'), text: fc.oneof(text, odd) }, ['type', 'text']),
    fields({ type: fc.constantFrom('image', 'document', 'thinking'), text, source: odd }),
    fields({ type: fc.constant('tool_use'), id, name, input: odd }),
    odd,
    fields(
      {
        type: fc.constant('tool_result'),
        tool_use_id: id,
        content: fc.oneof(text, odd, fc.array(tie('part'), { maxLength: 3 })),
        is_error: fc.constantFrom<unknown>(true, false, 'true'),
      },
      ['type', 'content'],
    ),
  ),
}))

const call = fields({
  id,
  type: fc.constant('function'),
  function: fields({ name, arguments: text }),
})

const role = fc.constantFrom<unknown>('tool', 'tool', 'function', 'user', 'assistant', 'system', 7)

/** Messages of both vendors, mixed, with odd values in every place. */
export const arbitraryMessages = fc.array(
  fields({
    role,
    tool_call_id: id,
    is_error: fc.boolean(),
    tool_calls: fc.oneof(odd, fc.array(call, { maxLength: 2 })),
    content: fc.oneof(text, odd, fc.array(part, { maxLength: 4 })),
  }),
  { maxLength: 6 },
)
