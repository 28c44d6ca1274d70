import { expect, it } from 'vitest'
import type { PartSelector } from '../../../src/core/parts/part.ts'
import { selectPart } from '../../../src/core/parts/select-part.ts'
import { callRetrieve } from '../../../src/mcp/results/retrieve-tool.ts'

const HASH = 'a'.repeat(24)
const LIMITS = { maxBytes: 80_000 }

function originalsOf(text: string): Parameters<typeof callRetrieve>[2] {
  const body = Buffer.from(text)
  const stored = { body, media_type: 'text/plain; charset=utf-8', expires_at: 0 }
  const originals = {
    fetch: async (_: unknown, check?: (bytes: number) => void) => {
      check?.(body.length)
      return stored
    },
    fetchPart: async (_: unknown, selector: PartSelector) => ({
      ...stored,
      part: selectPart(body, selector),
    }),
    noteFetch: () => {},
  }
  return originals as unknown as Parameters<typeof callRetrieve>[2]
}

async function asked(text: string, args: object = {}): Promise<string> {
  const call = Buffer.from(JSON.stringify({ hash: HASH, ...args }))
  const outcome = await callRetrieve(call, { tenant: '', reader: null }, originalsOf(text), LIMITS)
  if (outcome.kind !== 'result') throw new Error('no result')
  return JSON.parse(outcome.result.toString()).content[0].text
}

const NEXT = /\(of (\d+) lines; the next are lines (\d+-\d+)\)$/

/** All of a text, as one gets it who follows what each answer says of the next lines. */
async function inTurns(text: string): Promise<readonly string[]> {
  const answers: string[] = []
  for (let lines: string | undefined, more = true; more; ) {
    const answer = await asked(text, lines === undefined ? {} : { lines })
    const [said = '', , next] = NEXT.exec(answer) ?? []
    answers.push(answer.slice(0, answer.length - said.length))
    lines = next
    more = next !== undefined
  }
  return answers
}

const log = (count: number, write = (at: number) => `step ${at}`) =>
  Array.from({ length: count }, (_, at) => `${write(at)}\n`).join('')

it.each([
  ['many short lines', log(4_500), 3],
  ['long lines', log(300, at => `${at} ${'x'.repeat(997)}`), 4],
  ['printed numbers from another one on', log(4_500, at => `${at + 700}\tstep`), 3],
  ['printed numbers with others left out', log(3_000, at => `${at * 4 + 9}:step`), 2],
])('gives a long original in turns: %s', async (_, text, turns) => {
  const answers = await inTurns(text)
  expect(answers.join('')).toBe(text)
  expect(answers).toHaveLength(turns)
})

it('gives what is short enough as it is', async () => {
  expect(await asked(log(2_000))).toBe(log(2_000))
  expect(await asked(log(9_000), { lines: '3-4' })).toBe('step 2\nstep 3\n')
})

it('names other ways to ask for a text that is one long line', async () => {
  expect(await asked('x'.repeat(100_000))).toMatch(/^this has 100000 bytes: ask for a part/)
})
