import { describe, expect, it } from 'vitest'
import { attachRewriteMemory } from '../../../../../src/core/conversation/rewrite/rewrite-memory.ts'
import { pipelineSchema } from '../../../../../src/core/pipeline/profile/pipeline-config.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { page } from '../../../../support/made-text.ts'
import { read, remembering, type Step, sent } from './steps.ts'

/** A job as its server returns it; only its state differs from call to call. */
const job = (status: string, fields: object = {}) =>
  JSON.stringify({ id: 7, status, steps: page(1, 12), ...fields })

const poll = (text: string): Step => ({ tool: 'get_job', args: { id: 7 }, text })
const other = (text: string): Step => ({ tool: 'get_job', args: { id: 8 }, text })
const FAR = Array.from({ length: 8 }, (_, i) => read(`${i}.ts`, page(i + 20)))

describe('a result of a call that the request has already', () => {
  it('is what changed, unless near references are off', () => {
    const steps = [poll(job('pending')), poll(job('success'))]
    const [, second] = sent(steps, remembering())
    expect(second).toMatch(
      /^> \[near-ref [0-9a-f]{8} get_job 1 call ago, except:\]\nstatus: success$/,
    )
    const off = remembering({ dedup: { near_ref_enabled: false } })
    expect(sent(steps, off)[1]).not.toContain('near-ref')
  })

  it('names the last result that was sent with its values', () => {
    const steps = [poll(job('a')), poll(job('b')), poll(job('c')), poll(job('d'))]
    const texts = sent(steps, remembering())
    expect(texts[3]).toContain(' get_job 3 calls ago, except:]\nstatus: d')
  })

  it.each([
    ['another tool was called', [read('a.ts', job('a')), poll(job('b'))]],
    ['others of the tool are all that is kept', [poll(job('a')), other(page(3)), poll(job('b'))]],
    ['it is too long ago', [poll(job('a')), ...FAR, poll(job('b'))]],
    ['more than scalars differs', [poll(job('a')), poll(job('a', { more: 1 }))]],
    ['the arguments are others', [other(job('a')), poll(job('b'))]],
  ] as const)('is written out if %s', (_, steps) => {
    const context = remembering({
      dedup: { lru_size: 1 },
      hints: { types: { lines: { enabled: false } } },
    })
    expect(sent(steps, context).at(-1)).not.toContain('near-ref')
  })

  it('is the same turn by turn as at once', () => {
    const steps = ['a', 'b', 'b', 'c', 'a'].map(state => poll(job(state)))
    const context = remembering()
    const whole = sent(steps, remembering())
    steps.forEach((_, i) => {
      expect(sent(steps.slice(0, i + 1), context)).toEqual(whole.slice(0, i + 1))
    })
  })
})

describe('the verbosity of references in a request', () => {
  const steps = [read('a', page(1)), read('a', page(1))]

  it('is never verbose, since the service keeps none of what the request has', () => {
    const pipeline = { dedup: { hint_verbosity: 'verbose' } }
    expect(sent(steps, remembering(pipeline))[1]).toMatch(/^> \[ref [0-9a-f]{8} Read 1 call ago\]$/)
  })

  it('is standard unless the configuration says otherwise', () => {
    expect(sent(steps, remembering({}))[1]).toContain(' Read 1 call ago]')
  })
})

describe('hints of a family in a conversation', () => {
  const limited = (family: string, most: number) => ({
    hints: { types: { lines: { enabled: false }, [family]: { max_per_session: most } } },
  })
  const steps = [0, 1, 2, 3].map(() => read('a', page(1)))

  it('are as many as the configuration allows', () => {
    const texts = sent(steps, remembering(limited('reference', 2)))
    expect(texts.filter(text => text.startsWith('> [ref '))).toHaveLength(2)
    expect(texts[3]).toBe(page(1))
  })

  it('are counted over all turns, and after a restart by what is on record', () => {
    const pipeline = limited('reference', 1)
    const one = remembering(pipeline)
    const whole = sent(steps, one)
    const two = remembering(pipeline)
    steps.forEach((_, i) => {
      expect(sent(steps.slice(0, i + 1), two)).toEqual(whole.slice(0, i + 1))
    })
    // The record stays, and everything that a thread remembers of histories is gone.
    const { rewrites } = two
    const restarted = { ...remembering(pipeline), rewrites: { ...rewrites!, history: undefined! } }
    expect(sent([...steps, read('b', page(2))], restarted).slice(0, 4)).toEqual(whole)
  })

  it('are limited if nothing may be referred to either', () => {
    const rows = JSON.stringify(Array.from({ length: 4_000 }, (_, id) => ({ id, state: 'open' })))
    const lists = [0, 1, 2].map(i => ({ tool: 'list', args: { i }, text: rows }))
    const fields = {
      truncation: 'auto',
      tools: [{ name: 'haversack_retrieve', input_schema: {} }],
    }
    const eliding = {
      ...remembering({ ...limited('elision', 1), elision: { in_proxies: true } }),
      terms,
    }
    const marked = sent(lists, eliding, fields).filter(text => text.includes(' not shown | '))
    expect(marked).toHaveLength(1)
  })

  const terms = { redeems: true, bypass: false } as const
})

describe('a note on the format', () => {
  const rule = { hints: { types: { format: {} } } }
  const table = (rows: number) =>
    JSON.stringify(Array.from({ length: rows }, (_, id) => ({ id, name: `user ${id}`, on: true })))
  const lines = page(9)
  const list = (text: string, tool = 'list'): Step => ({ tool, args: {}, text })

  it('is sent if the last result of the endpoint had another one', () => {
    const [first, second, third] = sent([list(lines), list(table(60)), list(table(61))], {
      ...remembering(rule),
    })
    expect(first).not.toContain('> [encoded: ')
    expect(second).toMatch(/^> \[encoded: [a-z]+@\d \| rows=60, cols=3\]\n/)
    expect(third).not.toContain('> [encoded: ')
  })

  it('is not sent without a rule of its own, nor for another endpoint', () => {
    const steps = [list(lines), list(table(60))]
    expect(sent(steps, remembering()).join()).not.toContain('> [encoded: ')
    const others = [list(lines, 'one'), list(table(60), 'two')]
    expect(sent(others, remembering(rule)).join()).not.toContain('> [encoded: ')
  })

  it('does not change what was sent if the rule comes later', () => {
    const rewrites = attachRewriteMemory(createBodyMemory({ bytes: 1 << 20 }))
    const before = remembering()
    const context = { ...before, rewrites: { ...before.rewrites!, memory: rewrites } }
    const steps = [list(lines), list(table(60))]
    const texts = sent(steps, context)
    const pipeline = pipelineSchema.parse(rule)
    expect(sent(steps, { ...context, pipeline })).toEqual(texts)
  })
})

describe('notes on search chains in a conversation', () => {
  const rule = { hints: { types: { search_chain: {} } } }
  const hits = (word: string) =>
    Array.from({ length: 40 }, (_, hit) => {
      return `/home/user/project/src/${word}/module.ts:${hit * 13}: the ${hit * 37} of ${word}`
    }).join('\n')
  const grep = (word: string): Step => ({ tool: 'Grep', args: { word }, text: hits(word) })
  const shell = (command: string): Step => ({
    tool: 'Bash',
    args: { command },
    text: hits(command.length.toString(36)),
  })
  const edit: Step = { tool: 'Edit', args: {}, text: 'done' }
  const told = (texts: readonly string[]) =>
    texts.flatMap((text, i) => (/^> \[\d of 7 calls searched/m.test(text) ? [[i, text]] : []))

  it('come with the fifth search of seven calls, and seven results apart', () => {
    const words = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l', 'm']
    const notes = told(sent(words.map(grep), remembering(rule)))
    expect(notes.map(([at]) => at)).toEqual([4, 11])
    expect(notes[0]![1]).toMatch(/\n> \[5 of 7 calls searched\. read what they found\]$/)
    expect(notes[1]![1]).toMatch(/\n> \[7 of 7 calls searched\. read what they found\]$/)
  })

  it('count commands that search, and no others', () => {
    const steps = [
      shell('rg -n x src'),
      shell('cd src && git grep yy'),
      shell('ls -l zzz'),
      shell('find . -name "*.ts"'),
      edit,
      grep('e'),
    ]
    expect(told(sent([...steps, shell('cat fd.txt #ab')], remembering(rule)))).toEqual([])
    const [[at, text] = []] = told(sent([...steps, grep('f')], remembering(rule)))
    expect(at).toBe(6)
    expect(text).toContain('> [5 of 7 calls searched')
  })

  it('are the same turn by turn as at once, and after a restart', () => {
    const steps = [edit, ...['a', 'b', 'c', 'd', 'e', 'f', 'g'].map(grep), edit, grep('h')]
    const whole = sent(steps, remembering(rule))
    expect(told(whole).map(([at]) => at)).toEqual([5])
    const two = remembering(rule)
    steps.forEach((_, i) => {
      expect(sent(steps.slice(0, i + 1), two)).toEqual(whole.slice(0, i + 1))
    })
    const { rewrites } = two
    const restarted = { ...remembering(rule), rewrites: { ...rewrites!, history: undefined! } }
    expect(sent([...steps, grep('i')], restarted).slice(0, steps.length)).toEqual(whole)
  })

  it('are not sent without a rule of their own, nor beside an error', () => {
    const steps = ['a', 'b', 'c', 'd', 'e'].map(grep)
    expect(told(sent(steps, remembering({})))).toEqual([])
    const failed: Step = { ...grep('e'), isError: true }
    expect(told(sent([...steps.slice(0, 4), failed], remembering(rule)))).toEqual([])
  })
})
