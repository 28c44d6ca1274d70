import fc from 'fast-check'
import type { RouteName } from '../../../../../src/core/dialects/lookup.ts'

/** Texts with all that JSON has a rule for, halves of surrogate pairs among it. */
const text = fc
  .array(
    fc.constantFrom(
      'a',
      'tool_result',
      '"',
      '\\',
      '\\"',
      '/',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      'é',
      '€',
      '😀',
      '\ud83d',
      '\ude00',
      '\ufeff',
      '{"type":"text"}',
      ' ',
    ),
    { maxLength: 8 },
  )
  .map(parts => parts.join(''))

const id = fc.constantFrom('1', 'Read', 'name Read')
const name = fc.constantFrom('Read', 'search', 'é"')
const junk = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom<unknown>(null, true, false, 0, -1.5e300, '', [], {}, [[]]),
  },
  fc.jsonValue({ maxDepth: 2 }),
)
const breakpoint = fc.constantFrom<unknown>({ type: 'ephemeral' }, null)
const caller = fc.constantFrom<unknown>(null, { type: 'direct' }, { type: 'program' }, 'x')

/** Some of the members, each with what belongs there or with anything. */
function some(fields: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<unknown> {
  const named = Object.fromEntries(
    Object.entries({ ...fields, extra: junk }).map(([key, of]) => [
      key,
      fc.oneof({ weight: 12, arbitrary: of }, junk),
    ]),
  )
  return fc.oneof(
    { weight: 20, arbitrary: fc.record(named, { requiredKeys: Object.keys(fields) }) },
    { weight: 3, arbitrary: fc.record(named, { requiredKeys: [] }) },
    junk,
  )
}

const list = (of: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.array(of, { maxLength: 6 })
const maybe = (of: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(of, fc.constant(null), fc.constant(null))

const part = some({
  type: fc.constantFrom('text', 'text', 'input_text', 'output_text', 'image', 'document'),
  text,
  cache_control: maybe(breakpoint),
})
const parts = fc.oneof(text, list(part))

const call = some({ type: fc.constant('tool_use'), id, name, input: junk, caller: maybe(caller) })
const result = some({
  type: fc.constant('tool_result'),
  tool_use_id: id,
  content: parts,
  is_error: fc.constantFrom(true, false),
  cache_reference: fc.constantFrom(null, null, null, null, null, null, 'a'),
  cache_control: maybe(breakpoint),
})
const other = some({ type: fc.constantFrom('text', 'thinking', 'document'), text, content: parts })
const message = (role: string, block: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  some({ role: fc.constant(role), content: list(fc.oneof({ weight: 3, arbitrary: block }, other)) })

const called = fc.oneof(fc.constant('{"a":[1]}'), text)
const tool = some({
  type: fc.constantFrom('function', 'custom', 'namespace', 'programmatic_tool_calling'),
  name,
  function: some({ name }),
  custom: some({ name }),
  tools: list(some({ name })),
})

/** Any value whose keys are no numbers, which would come before the others. */
const value: fc.Arbitrary<unknown> = fc.jsonValue({
  maxDepth: 2,
  stringUnit: fc.constantFrom('a', '"', '\\', 'é', '{', ':', ',', ']'),
})
const response = fc.oneof(
  { weight: 6, arbitrary: fc.dictionary(fc.constantFrom('output', 'error', 'é"'), value) },
  value,
)
const functionCall = some({ id: maybe(id), name, args: junk })
const functionResponse = fc.oneof(
  fc.record({ id: maybe(id), name, response }),
  fc.record({ name, response }, { requiredKeys: [] }),
)
const toolUse = some({ toolUseId: id, name, input: junk })
const toolResult = fc.record({
  toolUseId: id,
  status: fc.constantFrom('error', 'success'),
  content: list(
    fc.oneof(fc.record({ text }), fc.record({ json: value }), fc.record({ image: id })),
  ),
})

const requests: Readonly<Record<RouteName, fc.Arbitrary<unknown>>> = {
  anthropic_messages: some({
    messages: list(
      fc.oneof(
        { weight: 4, arbitrary: message('assistant', call) },
        { weight: 4, arbitrary: message('user', result) },
        message('user', call),
        message('assistant', result),
      ),
    ),
    tools: list(tool),
    cache_control: maybe(breakpoint),
  }),
  openai_chat: some({
    messages: list(
      fc.oneof(
        some({
          role: fc.constant('assistant'),
          tool_calls: list(
            fc.oneof(
              some({ id, function: some({ name, arguments: called }) }),
              some({ id, custom: some({ name, input: called }) }),
            ),
          ),
          function_call: maybe(some({ name, arguments: called })),
        }),
        some({ role: fc.constant('tool'), tool_call_id: id, content: parts }),
        some({ role: fc.constant('function'), name, content: parts }),
        some({ role: fc.constantFrom('user', 'system'), content: parts }),
      ),
    ),
    tools: list(tool),
    functions: list(tool),
  }),
  openai_responses: some({
    input: list(
      fc.oneof(
        some({
          type: fc.constant('function_call'),
          call_id: id,
          name,
          arguments: called,
          caller: maybe(caller),
        }),
        some({ type: fc.constant('custom_tool_call'), call_id: id, name, input: called }),
        some({
          type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
          call_id: id,
          output: parts,
          prompt_cache_breakpoint: maybe(breakpoint),
        }),
        some({
          type: fc.constant('mcp_call'),
          id,
          name,
          arguments: called,
          output: text,
          error: maybe(text),
        }),
        some({ type: fc.constantFrom('message', 'reasoning'), content: parts, output: parts }),
        some({ type: fc.constant('additional_tools'), tools: list(tool) }),
      ),
    ),
    tools: list(tool),
  }),
  gemini_generate: some({
    contents: list(
      some({
        role: fc.constantFrom('user', 'model', 'function'),
        parts: list(
          fc.oneof(
            fc.record({ functionCall }),
            fc.record({ function_call: functionCall }),
            fc.record({ functionResponse }),
            fc.record({ function_response: functionResponse }),
            fc.record({ functionCall, function_call: functionCall }),
            fc.record({ text }),
            junk,
          ),
        ),
      }),
    ),
    tools: list(fc.record({ functionDeclarations: list(some({ name })) })),
  }),
  bedrock_converse: some({
    messages: list(
      some({
        role: fc.constantFrom('user', 'assistant'),
        content: list(
          fc.oneof(
            fc.record({ toolUse }),
            fc.record({ toolResult }),
            fc.record({ cachePoint: junk }),
            fc.record({ text }),
            junk,
          ),
        ),
      }),
    ),
    toolConfig: maybe(some({ tools: list(fc.record({ toolSpec: some({ name }) })) })),
  }),
}

export const ROUTES = Object.keys(requests) as RouteName[]

/** A route, and a request that is mostly one of its own. */
export const someRequest = fc
  .constantFrom(...ROUTES)
  .chain(route => fc.record({ route: fc.constant(route), request: requests[route] }))

/** The member of each route's requests that has the conversation. */
const LISTS: Readonly<Record<RouteName, string>> = {
  anthropic_messages: 'messages',
  openai_chat: 'messages',
  openai_responses: 'input',
  gemini_generate: 'contents',
  bedrock_converse: 'messages',
}

/** Messages that a turn has, and the place of the request that its other members are from. */
const turn = fc.record({ length: fc.nat(30), others: fc.nat(4) })

/**
 * The requests of a conversation that goes on, goes back, or comes with other tools. Its messages
 * are those of several requests, of which mostly all are of the route.
 */
export const someTurns = fc
  .constantFrom(...ROUTES)
  .chain(route =>
    fc.record({
      route: fc.constant(route),
      parts: fc.array(requests[route], { minLength: 5, maxLength: 5 }),
      turns: fc.array(turn, { minLength: 2, maxLength: 4 }),
    }),
  )
  .map(({ route, parts, turns }) => {
    const fields = parts.map(part => (isFields(part) ? part : {}))
    const messages = fields.flatMap(part => {
      const list = part[LISTS[route]]
      return Array.isArray(list) ? list : []
    })
    const bodies = turns.map(({ length, others }) => {
      const { [LISTS[route]]: _, ...rest } = fields[others] ?? {}
      // What stands before the messages would make every byte of them another one's.
      return { [LISTS[route]]: messages.slice(0, length), ...rest }
    })
    return { route, bodies }
  })

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
