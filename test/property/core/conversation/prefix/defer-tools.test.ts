import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RequestTerms } from '../../../../../src/core/contract/request-terms.ts'
import { kindOf } from '../../../../../src/core/conversation/prefix/longer-life.ts'
import { recordingProxy, type Store } from '../../../../support/recording-proxy.ts'
import { runs } from '../../../../support/runs.ts'
import { callableOf, refusalOf, type SearchedBody } from '../../../../support/searching-vendor.ts'

const LONG = 'It takes many words to tell what it does. '.repeat(120)
const NAMES = ['Bash', 'Read', 'Task', 'mcp__h__find_tools', 'a-b', 'Fetch', 'ToolSearch', 'x y']
const odd = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  fc.constantFrom<object>(
    { cache_control: { type: 'ephemeral' } },
    { defer_loading: true },
    { defer_loading: false },
    { type: 'web_search_20260209' },
    { type: 'custom' },
  ),
)
const list = fc
  .uniqueArray(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 7 })
  .chain(names => fc.tuple(...names.map(name => fc.tuple(fc.constant(name), odd))))
  .map(tools =>
    tools.map(([name, more]) => ({
      ...{ name, description: `${name}: ${LONG}`, input_schema: { type: 'object' } },
      ...more,
    })),
  )
const examples = fc.option(fc.constant({ input_examples: [{}] }), { freq: 8 })
const system = fc.oneof(
  fc.constantFrom('Be good.', 'Use Task and Fetch.'),
  fc.constant([{ type: 'text', text: 'Be good.', cache_control: { type: 'ephemeral' } }]),
)
const turn = fc.record({ tool: fc.nat(6), loads: fc.boolean(), levers: fc.nat(3) })
const LEVERS: readonly object[] = [
  { cache_align: { defer: true } },
  { cache_align: { defer: true, normalise: true }, steering: { verbosity: 'terse' } },
  {},
  { cache_align: { defer: true, normalise: true } },
]

const head = (text: string) => text.slice(0, text.indexOf('"messages"'))
const plain = ({ defer_loading: _, description, cache_control: __, ...tool }: Tool) => ({
  ...tool,
  description: description.split(' More deferred')[0],
})
interface Sent extends SearchedBody {
  readonly tools: readonly Tool[]
}
interface Tool {
  readonly name: string
  readonly description: string
  readonly [key: string]: unknown
}

it('deferred tools are never refused, lost, or changed in a conversation, on any replica', () => {
  const all = fc.tuple(list, examples, system, fc.subarray(NAMES), fc.array(turn, { maxLength: 5 }))
  fc.assert(
    fc.property(all, ([tools, more, said, recent, turns]) => {
      const defined =
        more === null ? tools : tools.map((each, i) => (i === 0 ? { ...each, ...more } : each))
      const agentTools = [{ kind: kindOf({ tools: defined.map(({ name }) => name) }), recent }]
      const terms: RequestTerms = {
        redeems: true,
        bypass: false,
        placesAt: 'api.anthropic.com',
        agentTools,
      }
      const store: Store = new Map()
      const messages: object[] = [{ role: 'user', content: 'Go.' }]
      let before: string | null = null
      let changes = 0
      for (const [at, { tool, loads, levers }] of [
        { tool: 0, loads: true, levers: 0 },
        ...turns,
      ].entries()) {
        const body = { model: 'claude-opus-5-5', system: said, tools: defined, messages }
        const isRefused = refusalOf(body as SearchedBody) !== null
        const { send } = recordingProxy(LEVERS[levers]!, {
          store,
          terms: at === 0 ? terms : { ...terms, agentTools: [] },
        })
        const { bytes, report } = send(body)
        const text = Buffer.from(bytes).toString()
        const sent = JSON.parse(text) as Sent
        expect(isRefused || refusalOf(sent) === null).toBe(true)
        const own = sent.tools.filter(({ name }) => name !== 'tool_search_tool_bm25')
        expect(own.map(plain)).toEqual(defined.map(each => plain(each as Tool)))
        if (before !== null && before !== head(text)) {
          changes++
          expect(report.prefix_changed).toBe(true)
        }
        before = head(text)
        // The model calls what it can, and searches for what it cannot; its client may drop that.
        const { name } = defined[tool % defined.length]!
        const isHosted = sent.tools.length > defined.length
        const search =
          callableOf(sent).includes(name) || !(loads || !isHosted) ? [] : [reference(name)]
        messages.push(
          {
            role: 'assistant',
            content: [...search, { type: 'tool_use', id: `t${at}`, name, input: {} }],
          },
          {
            role: 'user',
            content: [{ type: 'tool_result', tool_use_id: `t${at}`, content: 'ok' }],
          },
        )
      }
      expect(changes).toBeLessThanOrEqual(1)
    }),
    { numRuns: runs(60) },
  )
})

const reference = (name: string) => ({
  type: 'tool_search_tool_result',
  tool_use_id: 's',
  content: { tool_references: [{ type: 'tool_reference', tool_name: name }] },
})
