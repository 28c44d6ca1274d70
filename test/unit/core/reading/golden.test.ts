import { expect, it } from 'vitest'
import { CONSTRUCTS, type Construct } from '../../../../src/core/reading/constructs.ts'
import { type EncodeRequest, encode } from '../../../../src/index.ts'
import { createLocalContext } from '../../../../src/library/local-context.ts'
import { createLocalSessions } from '../../../../src/library/local-sessions.ts'

const WORDS = ['red', 'oak', 'sky', 'tin', 'elm']
const word = (at: number) => WORDS[at % WORDS.length]!
const list = <T>(count: number, of: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => of(at))
const lines = (count: number, of: (at: number) => string) => list(count, of).join('\n')
const json = (value: unknown) => JSON.stringify(value, null, 2)

const fileDiff = (path: string, name: string) =>
  `diff --git a/${path} b/${path}
index 90b0bf11..376a97b1 100644
--- a/${path}
+++ b/${path}
@@ -1,2 +1,2 @@
-const ${name} = 1
+const ${name} = 2
 export {}`

/** Objects of one kind that are no table. */
const rooms = Object.fromEntries(
  list(12, at => [
    `room_${at}`,
    {
      [`size_${at}`]: at,
      lamp: { state: word(at), level: at, owner: 'mira' },
      [`after_${at}`]: 1,
      fan: { state: word(at + 1), level: at * 2, owner: 'tom' },
    },
  ]),
)

/** A request whose text has the construct, and few others. */
const ALONE: Readonly<Partial<Record<Construct, EncodeRequest & { content: string }>>> = {
  numbered: { content: lines(7, at => `${at + 1}\tstep ${word(at)} of the plan`) },
  times: { content: lines(6, () => 'waiting for the database to start') },
  git_headers: { content: `${fileDiff('src/a.ts', 'a')}\n${fileDiff('src/controls/b.ts', 'b')}` },
  heading: { content: lines(14, at => `src/components/controls/buttons/${word(at)}-${at}.ts`) },
  indented_heading: {
    content: lines(24, at => `        src/components/controls/buttons/${word(at)}-${at}.ts`),
  },
  template: {
    content: lines(
      12,
      at => `12:30:${10 + at} worker ${at % 4} has answered request ${at * 7919} in ${at * 3} ms`,
    ),
    reading: 'dense',
  },
  template_switch: {
    content: lines(16, at =>
      at % 8 < 4
        ? `12:30:${10 + at} worker ${at % 4} has answered request ${at * 7919} in ${at * 3} ms`
        : `12:30:${10 + at} the connection of client ${at * 31} was closed after ${at} requests`,
    ),
    reading: 'dense',
  },
  sign: {
    content: lines(20, at => `\u001b[38;2;156;231;201mstep ${word(at)}${at}\u001b[0m is done`),
    formats: ['terminal'],
  },
  json_lines: {
    content: lines(7, at => JSON.stringify({ at, colour: word(at), ready: at % 2 === 0 })),
  },
  affix: {
    content: json(list(12, at => ({ id: `instance-in-eu-${word(at)}${'abcdefghijkl'[at]}`, at }))),
  },
  affix_number: { content: json(list(12, at => ({ id: `ORD-2026-${10_000 + at * 37}`, at }))) },
  shape: { content: json(rooms) },
  table: { content: json(list(4, at => ({ id: at, colour: word(at) }))) },
  brackets: {
    content: json({ name: 'north', tags: ['red one', 'blue two'], size: { x: 1, y: 2 } }),
  },
}

/** A file that is read again: so many lines stay between two that changed. */
function readAgain(between: number, reading: EncodeRequest['reading']): string {
  const sessions = createLocalSessions(createLocalContext(), { bodyBytes: 1 << 20 })
  const line = (at: number) =>
    `export const ${word(at)}_${'abcdefghijklmn'[at]} = await open("${word(at + 2)}")`
  const file = (changed: string) =>
    lines(14, at => (at % (between + 1) === between ? `${changed}(${word(at)})` : line(at)))
  const call = { session: 's', tool: 'Read', reading }
  sessions.encode({ ...call, content: file('before') })
  return sessions.encode({ ...call, content: file('after') }).content
}

const AGAIN: Readonly<Partial<Record<Construct, () => string>>> = {
  reference: () => readAgain(6, 'balanced'),
  short_reference: () => readAgain(4, 'dense'),
}

/** Nothing writes the first: the formats that would are gone. The second looks like a short one. */
const NOT_SHOWN: readonly Construct[] = ['text_form', 'tiny_reference']

it('what each construct looks like', async () => {
  const parts = CONSTRUCTS.filter(each => !NOT_SHOWN.includes(each)).map(construct => {
    const request = ALONE[construct]
    const content = request === undefined ? AGAIN[construct]!() : encode(request).content
    return `===== ${construct}\n${content}\n`
  })
  // Escapes of terminals are none of a file that people read.
  await expect(parts.join('\n').replaceAll('\u001b', '␛')).toMatchFileSnapshot('golden.txt')
})
