import { describe, expect, test } from 'vitest'
import type { Argument } from '../../../../src/store/redis/connection.ts'
import { FunctionCalls, type SendOptions } from '../../../../src/store/redis/function-calls.ts'
import type { Library } from '../../../../src/store/redis/library.ts'
import { MISSING, type Reply } from '../../../../src/store/redis/send.ts'
import type { Result } from '../../../../src/store/store.ts'
import { fail } from '../../../../src/store/values/failure.ts'

const library: Library = { name: 'l', text: 'the text', functionOf: name => `f_${name}` }

type Answer = Result<Reply> | typeof MISSING

/** Calls on a server that answers by a function, and what was sent to it. */
function calling(answer: (verb: string, args: readonly Argument[]) => Answer, most = 100) {
  const sent: string[] = []
  const calls = new FunctionCalls({
    library,
    isSharded: false,
    maxCalls: most,
    maxBytesWaiting: 1e6,
    async send(_key: string, args: readonly Argument[], { names }: SendOptions) {
      sent.push(`${args.slice(0, 2).join(' ')} ${names.length}`)
      return answer(String(args[1]), args)
    },
  })
  return { calls, sent }
}

/** Answers each of several calls with its arguments, and one with the name of the function. */
function echo(verb: string, args: readonly Argument[]): Answer {
  if (!verb.endsWith('together')) return { ok: true, reply: [verb] }
  const reply: unknown[] = []
  for (let at = 4; at < args.length; at += 2 + Number(args[at + 1]))
    reply.push(args.slice(at + 2, at + 2 + Number(args[at + 1])))
  return { ok: true, reply }
}

describe('calls of one turn of the event loop', () => {
  test('travel together, those of each tenant by themselves', async () => {
    const { calls, sent } = calling(echo)
    const answers = await Promise.all([
      calls.call('put', 'a', ['1', '2']),
      calls.call('append_change', 'a', ['3']),
      calls.call('touch', 'b', ['4']),
      calls.call('get', 'a', []),
      calls.call('sweep', 'a', ['5']),
    ])
    expect(answers.map(each => each.ok && each.reply)).toEqual([
      ['1', '2'],
      ['3'],
      ['f_touch'],
      [],
      ['f_sweep'],
    ])
    expect(sent).toEqual(['FCALL f_sweep 1', 'FCALL f_together 3', 'FCALL f_touch 1'])
    await calls.call('get', 'a', [])
    expect(sent.at(-1)).toBe('FCALL_RO f_get 1')
  })

  test('that only read are sent as such; a full server answers those among others too', async () => {
    const full = fail('full', 'no room')
    const { calls, sent } = calling((verb, args) =>
      verb === 'f_together' ? full : echo(verb, args),
    )
    const read = await Promise.all([calls.call('get', 'a', ['1']), calls.call('get', 'a', ['2'])])
    expect(read).toEqual([
      { ok: true, reply: ['1'] },
      { ok: true, reply: ['2'] },
    ])
    const both = await Promise.all([calls.call('put', 'a', ['1']), calls.call('get', 'a', ['2'])])
    expect(both).toEqual([full, { ok: true, reply: ['f_get'] }])
    expect(sent).toEqual(['FCALL_RO f_read_together 2', 'FCALL f_together 2', 'FCALL_RO f_get 1'])
  })

  test('do not fail because another one does; an answer of another shape is none', async () => {
    const replies: unknown[] = [[new Error('OOM'), [1]], [[1]], [7, [1]]]
    const { calls } = calling(() => ({ ok: true, reply: replies.shift() }))
    const two = () => Promise.all([calls.call('put', 'a', []), calls.call('touch', 'a', [])])
    expect(await two()).toMatchObject([{ reason: 'full' }, { ok: true }])
    expect(await two()).toMatchObject([{ reason: 'failed' }, { reason: 'failed' }])
    expect(await two()).toMatchObject([{ reason: 'failed' }, { ok: true }])
  })

  test('are at most sixteen at once, and too many find no room', async () => {
    const { calls, sent } = calling(echo, 20)
    const answers = await Promise.all(Array.from({ length: 21 }, () => calls.call('put', 'a', [])))
    expect(sent).toEqual(['FCALL f_together 16', 'FCALL f_together 4'])
    expect(answers.filter(each => !each.ok)).toMatchObject([{ reason: 'busy' }])
    await calls.call('put', 'a', [])
    const large = 'x'.repeat(200 * 1024)
    await Promise.all([1, 2].map(() => calls.call('put', 'a', [large])))
    expect(sent.slice(3)).toEqual(['FCALL f_put 1', 'FCALL f_put 1'])
  })

  test('load the library once if the server lacks it', async () => {
    let isLoaded = false
    const { calls, sent } = calling((verb, args) => {
      if (args[0] === 'FUNCTION') isLoaded = true
      return args[0] === 'FUNCTION'
        ? { ok: true, reply: 'l' }
        : isLoaded
          ? echo(verb, args)
          : MISSING
    })
    await Promise.all([calls.call('put', 'a', []), calls.call('put', 'b', [])])
    expect(sent.filter(each => each.startsWith('FUNCTION'))).toHaveLength(1)
    expect(sent).toHaveLength(5)
  })
})
