import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHistoryMemory } from '../../../../../src/core/conversation/rewrite/history.ts'
import { rewriteRequest } from '../../../../../src/core/conversation/rewrite/rewrite-request.ts'
import { page } from '../../../../support/made-text.ts'
import { bytesOf } from '../../../../support/runner.ts'
import { fewRuns } from '../../../../support/short-runs.ts'
import { twins } from '../../../../support/twins.ts'
import { bodyOf, contextWith, LIMITS, read, remembering, type Step, sent } from './steps.ts'

describe('a result that the request holds already', () => {
  it('is a reference that names the earlier call', () => {
    const texts = sent(
      [read('a.ts', page(1)), read('b.ts', page(2)), read('a.ts', page(1))],
      remembering(),
    )
    expect(texts[0]).toBe(page(1))
    expect(texts[2]).toMatch(/^> \[ref [0-9a-f]{8} Read 2 calls ago\]$/)
  })

  it('is a reference that names the earlier call, however short or long hints are', () => {
    const again = [read('a.ts', page(1)), read('a.ts', page(1))]
    const usual = sent(again, remembering())
    expect(usual[1]).toContain(' Read 1 call ago]')
    for (const hint_verbosity of ['terse', 'verbose']) {
      const context = contextWith(createHistoryMemory(2), { dedup: { hint_verbosity } })
      expect(sent(again, context)).toEqual(usual)
    }
  })

  it('is a reference in the lines that it shares', () => {
    const changed = page(1).replace(/.*\n/, 'a new first line\n')
    const [, second] = sent([read('a.ts', page(1)), read('a.ts', changed)], remembering())
    expect(second).toMatch(
      /^a new first line\n> \[ref [0-9a-f]{8} lines 2-20 of Read 1 call ago\]$/,
    )
  })

  it('is a longer reference if another one has the same first digits', () => {
    const rest = page(4)
    const [one, two] = twins(i => rest.replaceAll(/^/gm, `${i} `), [14_027, 64_676])
    const both = [read('a', one), read('b', two), read('b', two), read('a', one)]
    const steps = [...both, read('c', `${two}\n${page(5)}`)]
    const [, , again, before, lines] = sent(steps, remembering())
    const short = hash('sha256', one).slice(0, 8)
    const long = hash('sha256', two).slice(0, 24)
    expect(again).toBe(`> [ref ${long} Read 1 call ago]`)
    expect(before).toBe(`> [ref ${short} Read 3 calls ago]`)
    expect(lines).toContain(`> [ref ${long} lines 1-20 of Read `)
    // Turn by turn as at once.
    const context = remembering()
    steps.forEach((_, i) => {
      const texts = sent(steps.slice(0, i + 1), context)
      expect(texts).toEqual(sent(steps, remembering()).slice(0, i + 1))
    })
  })

  it('is one in the words of a host that are named, turn by turn as at once', () => {
    const block = `<system-reminder>\n${page(7).split('\n', 6).join('\n')}\n</system-reminder>`
    const numbered = (seed: number) => {
      const lines = page(seed).split('\n')
      return [...lines.map((text, i) => `${i + 1}\t${text}`), block].join('\n')
    }
    const steps = [1, 2, 3].map(seed => read(`${seed}`, numbered(seed)))
    const fresh = (host_blocks: string[]) =>
      contextWith(createHistoryMemory(2), { dedup: { host_blocks } })
    for (const text of sent(steps, fresh([]))) expect(text).toContain(block)
    const whole = sent(steps, fresh(['system-reminder']))
    expect(whole.map(text => text.includes(block))).toEqual([true, false, false])
    expect(whole[2]).toMatch(/> \[ref \w{8} lines 1-8 of Read\.system-reminder 2 calls ago\]$/)
    const context = fresh(['system-reminder'])
    steps.forEach((_, i) => {
      expect(sent(steps.slice(0, i + 1), context)).toEqual(whole.slice(0, i + 1))
    })
  })

  it('counts every result in between, also those that have no text', () => {
    const body = JSON.parse(
      Buffer.from(bodyOf([read('a', page(1)), read('b', ''), read('c', page(1))])).toString(),
    )
    body.messages[4].content[0].content = [{ type: 'image', source: { type: 'url', url: 'u' } }]
    const bytes = bytesOf(JSON.stringify(body))
    const written = rewriteRequest(bytes, 'anthropic_messages', LIMITS, remembering())
    expect(Buffer.from(written.bytes).toString()).toContain(' Read 2 calls ago]')
  })

  it('is one too where only thinking is cleared', () => {
    const edits = [{ type: 'clear_thinking_20251015', keep: 'all' }]
    const steps = [read('a', page(1)), read('a', page(1))]
    const texts = sent(steps, remembering(), { context_management: { edits } })
    expect(texts[1]).toMatch(/^> \[ref /)
  })

  it('refers to what the agent wrote itself', () => {
    const write = { tool: 'Write', args: { file_path: 'x', content: page(3) }, text: 'ok' }
    const [, second] = sent([write, read('x', page(3))], remembering())
    expect(second).toMatch(/^> \[ref [0-9a-f]{8}[^\]]* Write\.content 1 call ago\]$/)
  })

  it.each([
    ['errors', [{ ...read('a', page(1)), isError: true }, read('a', page(1))], {}],
    [
      'calls without a name',
      [
        { tool: '', text: page(1) },
        { tool: '', text: page(1) },
      ],
      {},
    ],
    [
      'a provider that edits contexts',
      [read('a', page(1)), read('a', page(1))],
      { context_management: { edits: [] } },
    ],
  ])('is written out after %s', (_, steps: readonly Step[], fields) => {
    expect(sent(steps, remembering(), fields).at(-1)).toBe(page(1))
  })

  it('is written out with references off for the tool', () => {
    const pipeline = { dedup: { enabled_per_endpoint: { Read: false } } }
    expect(sent([read('a', page(1)), read('a', page(1))], remembering(pipeline))[1]).toBe(page(1))
  })
})

describe('a result that was sent in another form', () => {
  const rows = (count: number) =>
    Array.from({ length: count }, (_, id) => ({ id, name: hash('md5', `${id}`), open: id % 3 > 0 }))
  const json = (count: number) => JSON.stringify(rows(count), null, 2)
  const shell = (text: string, pid: number): Step => ({
    tool: 'shell',
    args: { command: 'cat rows.json' },
    text: `Command: cat rows.json\nOutput: ${text}\nExit Code: 0\nProcess Group: ${pid}`,
  })

  it('is a reference to all of it under another head or before another tail', () => {
    const steps = [shell(json(12), 4711), shell(json(12), 4712), shell(json(12), 4713)]
    const [first, second, third] = sent(steps, remembering())
    expect(first).toBe(steps[0]!.text)
    expect(second).toMatch(
      /^> \[ref [0-9a-f]{8} lines 1-64 of shell 1 call ago\]\nProcess Group: 4712$/,
    )
    expect(third).toMatch(/^> \[ref [0-9a-f]{8} lines 1-6[45] of shell [12] calls? ago\]\n/)
  })

  it.each([
    ['the bare text first', [read('rows.json', json(12)), shell(json(12), 1)]],
    ['the bare text later', [shell(json(12), 1), read('rows.json', json(12))]],
    ['on one line', [JSON.stringify(rows(12)), JSON.stringify(rows(12))].map(shell)],
  ])('%s', (_, steps) => {
    expect(sent(steps, remembering()).at(-1)).toMatch(/^> \[ref [0-9a-f]{8} lines \d+-\d+ of /m)
  })

  it('has no lines that a reader could count', () => {
    const part = json(12).split('\n').slice(20, 50).join('\n')
    const cut = json(12).split('\n').slice(0, 50).join('\n')
    for (const text of [part, cut, json(11), json(13)]) {
      const [, again] = sent([read('rows.json', json(12)), shell(text, 2)], remembering())
      expect(again).not.toContain('> [ref')
    }
  })

  it('is followed over as many references as others', () => {
    const pages = Array.from({ length: 12 }, (_, i) => shell(json(12), i))
    const texts = sent(pages, remembering())
    for (const text of texts.slice(1)) expect(text).toMatch(/^> \[ref [0-9a-f]{8} lines 1-6/)
    // Turn by turn as at once.
    const context = remembering()
    for (let turns = 1; turns <= pages.length; turns++) {
      expect(sent(pages.slice(0, turns), context)).toEqual(texts.slice(0, turns))
    }
  })
})

describe('what a thread remembers of conversations', () => {
  const step = fc.record({
    tool: fc.constantFrom('Read', 'Bash', 'Write'),
    args: fc.oneof(
      fc.constant({}),
      fc.record({
        file_path: fc.constantFrom('/a', '/b'),
        content: fc.constantFrom(page(1), page(2, 9)),
      }),
    ),
    text: fc.constantFrom('ok', page(1), page(2, 9), `${page(1)}\n${page(2, 9)}`, page(4, 100)),
    isError: fc.boolean(),
  })

  it('never shows: turn by turn, at once, in any order of conversations', () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(step, { minLength: 1, maxLength: 7 }), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 1, max: 3 }),
        fc.array(fc.nat(), { minLength: 1, maxLength: 30 }),
        (conversations, remembered, order) => {
          const shared = contextWith(createHistoryMemory(remembered))
          const turns = conversations.map(() => 0)
          for (const pick of order) {
            const n = pick % conversations.length
            const steps = conversations[n]!
            turns[n] = Math.min(steps.length, turns[n]! + 1 + (pick % 3))
            const now = steps.slice(0, turns[n])
            expect(sent(now, shared)).toEqual(sent(now, remembering()))
          }
        },
      ),
      { numRuns: fewRuns(25, 3) },
    )
  })

  it('is not taken for another conversation that began alike', () => {
    const shared = contextWith(createHistoryMemory(1))
    const begin = [read('a', page(1)), read('b', page(2))]
    const write = { tool: 'Write', args: { file_path: 'x', content: page(3) }, text: page(5) }
    sent(begin, shared)
    sent([...begin, write], shared)
    const texts = sent([...begin, read('x', page(3))], shared)
    expect(texts[2]).toBe(page(3))
  })

  it('reaches back far, and not for ever', () => {
    const large = (n: number) => read(`f${n}`, page(100 + n, 2000).replaceAll('\n', ' '))
    const steps = (between: number) => [
      read('a', page(1)),
      ...Array.from({ length: between }, (_, n) => large(n)),
      read('a', page(1)),
    ]
    expect(sent(steps(2), remembering()).at(-1)).toMatch(/^> \[ref/)
    expect(sent(steps(14), remembering()).at(-1)).toBe(page(1))
  })
})
