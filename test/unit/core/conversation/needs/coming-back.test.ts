import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { createPseudonyms } from '../../../../../src/core/telemetry/pseudonyms.ts'
import { factsOf } from '../../../../../src/core/telemetry/result-row.ts'
import { localContext } from '../../../../support/local-context.ts'
import { bytesOf } from '../../../../support/runner.ts'

const LIMITS = { maxBytes: 1_000_000, maxDepth: 64, maxValues: 10_000 }

const code = (file: number) =>
  Array.from({ length: 90 }, (_, n) => [
    `export function work${file}x${n}(left, right) {`,
    ...Array.from({ length: 8 }, (_, at) => `  const v${at} = left * ${file}${n}${at} + right`),
    '  return v0 + v1',
    '}',
  ])
    .flat()
    .map((line, at) => `${at + 1}\t${line}`)
    .join('\n')

interface Step {
  readonly name: string
  readonly input: object
  readonly text: string
  readonly isError?: boolean
}

const read = (file: number): Step => {
  return { name: 'Read', input: { file_path: `/src/f${file}.ts` }, text: code(file) }
}
const edit = (file: number, more: Partial<Step> = {}): Step => {
  const old_string = `const v7 = left * ${file}57 + right`
  return {
    name: 'Edit',
    input: { file_path: `/src/f${file}.ts`, old_string },
    text: `The file f${file}.ts was written.`,
    ...more,
  }
}
const say = (text: string): Step => ({ name: 'Bash', input: { command: 'git log' }, text })

function requestOf(steps: readonly Step[]): Uint8Array {
  const messages = steps.flatMap(({ name, input, text, isError = false }, n) => [
    { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}`, name, input }] },
    {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: text, is_error: isError }],
    },
  ])
  const tools = [{ name: 'haversack_retrieve', input_schema: { type: 'object' } }]
  return bytesOf(JSON.stringify({ model: 'claude-sonnet-4-5', tools, messages }))
}

/** A process that has telemetry. Each call is a turn: what its events say of earlier results. */
function service() {
  const memory = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
  const context = {
    ...localContext(),
    keepsOriginals: true,
    pipeline: pipelineSchema.parse({ elision: { in_proxies: true } }),
    rewrites: { tenant: '', memory, recalled: {} },
    terms: { redeems: true, bypass: false },
    telemetry: true as const,
  }
  const markers: string[] = []
  return {
    markers,
    turn(steps: readonly Step[]) {
      const sent = rewriteRequest(requestOf(steps), 'anthropic_messages', LIMITS, context)
      for (const { position } of sent.records) if (position !== null) memory.confirm(position)
      const named =
        Buffer.from(sent.bytes)
          .toString()
          .match(/\b[0-9a-f]{24}\b/g) ?? []
      markers.splice(0, markers.length, ...new Set(named))
      return sent.responses.map(({ row }) => {
        const facts = factsOf(row!(), createPseudonyms(new Uint8Array(32), ''))
        return [facts.endpoint_class, facts.needed_of, facts.retrieved_of]
      })
    },
  }
}

const NONE = [undefined, undefined]

describe('events of a proxied conversation', () => {
  it('say of which elided results a call quotes a hidden line, each once', () => {
    const { turn, markers } = service()
    const steps = [read(1), read(2)]
    expect(turn(steps)).toEqual([
      ['Read', ...NONE],
      ['Read', ...NONE],
    ])
    expect(markers).toHaveLength(2)
    steps.push(edit(1))
    expect(turn(steps)).toEqual([['Edit', ['Read'], undefined]])
    expect(turn(steps)).toEqual([])
    steps.push(edit(1), edit(2, { isError: true }), say('nothing that was there before'))
    expect(turn(steps).map(([, needed]) => needed)).toEqual([undefined, undefined, undefined])
    steps.push(edit(2))
    expect(turn(steps)).toEqual([['Edit', ['Read'], undefined]])
  })

  it('say nothing of a line that something else showed, or that stayed', () => {
    const shown = say('src/f1.ts: const v7 = left * 157 + right')
    const first = edit(1, {
      input: { file_path: '/src/f1.ts', old_string: 'export function work1x0(left, right) {' },
    })
    for (const steps of [
      [read(1), shown, edit(1)],
      [read(1), first],
      [edit(1), read(1)],
    ]) {
      expect(
        service()
          .turn(steps)
          .every(([, needed]) => needed === undefined),
      ).toBe(true)
    }
  })

  it('say of which results the original was fetched, with the next that is recorded', () => {
    const { turn, markers } = service()
    const steps = [read(1), read(2)]
    turn(steps)
    const fetch = (hash: string): Step => {
      return { name: 'mcp__h__haversack_retrieve', input: { hash }, text: code(1) }
    }
    steps.push(fetch(markers[0]!))
    expect(turn(steps)).toEqual([])
    steps.push(fetch(`${markers[0]}#L1-9`), fetch('f'.repeat(24)), say('all of it is done by now'))
    expect(turn(steps)).toEqual([['git_log', undefined, ['Read']]])
    steps.push(fetch(markers[1]!), say('all of it is done again'))
    expect(turn(steps)).toEqual([['git_log', undefined, ['Read']]])
  })

  it('say the same if another process sees the conversation for the first time', () => {
    const { turn } = service()
    expect(turn([read(1), read(2), edit(2), say('something that came then'), edit(1)])).toEqual([
      ['Read', ...NONE],
      ['Read', ...NONE],
      ['Edit', ['Read'], undefined],
      ['git_log', ...NONE],
      ['Edit', ['Read'], undefined],
    ])
  })
})
