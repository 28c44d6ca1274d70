import { expect, it } from 'vitest'
import { encodeOperation } from '../../../../../src/core/operations/encode.ts'
import { parsePart } from '../../../../../src/core/parts/parse-part.ts'
import { selectPart } from '../../../../../src/core/parts/select-part.ts'
import { createVerifier } from '../../../../../src/core/verify/verify-transcript.ts'
import { anySaving } from '../../../../support/any-saving.ts'
import { localContext } from '../../../../support/local-context.ts'
import { counters } from '../../../../support/vocabularies.ts'

const context = { ...localContext(), keepsOriginals: true, pipeline: anySaving() }
const MARK = /^\[… lines? (\d+(?:-\d+)?)[\],]/

const step = (at: number) =>
  at === 150 ? '12:00:02 ERROR disk is full' : `12:00:01 INFO step ${at * 7919} took ${at % 9} ms`
const log = (count: number) => Array.from({ length: count }, (_, at) => step(at))

/** The text that a mark's own numbers fetch takes its place: so all of it must come back. */
function restored(original: string, fields: object = { mode: 'elide' }): string {
  const request = { content: original, formats: ['passthrough'], ...fields }
  const { answer } = encodeOperation.run(request, context)
  const { findings } = createVerifier(counters).check({ line: 1, entry: { request, answer } })
  expect(findings).toEqual([])
  expect(answer.lossless).toBe(false)
  const lines = answer.content.split('\n').slice(0, -1)
  return lines
    .map(line => {
      const [, asked] = MARK.exec(line) ?? []
      if (asked === undefined) return line
      const range = asked.includes('-') ? asked : `${asked}-${asked}`
      const { content } = selectPart(Buffer.from(original), parsePart({ lines: range })!)
      return Buffer.from(content).toString().replace(/\n$/, '')
    })
    .join('\n')
}

it.each([
  ['no gutter', log(400).join('\n')],
  ['a line break at its end', `${log(400).join('\n')}\n`],
  [
    'a gutter from 1',
    log(400)
      .map((line, at) => `${at + 1}\t${line}`)
      .join('\n'),
  ],
  [
    'the gutter of a part of a file, whose numbers are also places',
    log(400)
      .map((line, at) => `${at + 101}→${line}`)
      .join('\n'),
  ],
  [
    'numbers that leave lines out',
    log(400)
      .map((line, at) => `${at * 3 + 50}:${line}`)
      .join('\n'),
  ],
  [
    'lines between that have no number',
    log(400)
      .map((line, at) => (at % 7 === 3 ? `  ${line}` : `${at + 101}\t${line}`))
      .join('\n'),
  ],
])('marks name lines as ?lines= finds them: %s', (_, text) => {
  expect(restored(text)).toBe(text)
  expect(restored(text, { mode: 'elide', budget_tokens: 600 })).toBe(text)
})

it('counts no line after the last line break', () => {
  const content = `${log(400).join('\n')}\n`
  const { answer } = encodeOperation.run(
    { content, mode: 'elide', formats: ['passthrough'] },
    context,
  )
  const kept = answer.content.split('\n').filter(line => !MARK.test(line)).length - 2
  const [, left, gone] =
    /(\d+) lines kept, (\d+) not/.exec(answer.content.split('\n').at(-1)!) ?? []
  expect([Number(left), kept + Number(gone)]).toEqual([kept, 400])
})
