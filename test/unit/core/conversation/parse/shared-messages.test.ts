import { expect, it } from 'vitest'
import { messagePieces } from '../../../../../src/core/conversation/parse/shared-messages.ts'
import { scanned } from './scanned.ts'

const mark = '"cache_control":{"type":"ephemeral"}'
const request = (...messages: readonly string[]) =>
  scanned('anthropic_messages', `{"system":[{${mark}}],"messages":[ ${messages.join(' ,')} ]}`)!
const text = (found: ReturnType<typeof request>, message: number) =>
  Buffer.concat(messagePieces(found, message)).toString()

it('gives a message without its breakpoints', () => {
  const plain = '{"role":"user","content":[{"text":"é","content":[{"a":1}]}]}'
  const found = request(
    plain,
    `{"role":"user","content":[{${mark},"text":"é","content":[{"a":1, ${mark}}]}]}`,
    `{"role":"user","content":[{"text":"é", ${mark} ,"content":[{"a":1}]}]}`,
    `{"role":"user","content":[{"type":"tool_result","text":"é","content":[{ ${mark} , "a":1}],${mark}}]}`,
    `{${mark}}`,
  )
  expect(messagePieces(found, 0)).toHaveLength(1)
  expect(text(found, 0)).toBe(plain)
  expect(text(found, 1)).toBe(
    `{"role":"user","content":[{"text":"é","content":[{"a":1, ${mark}}]}]}`,
  )
  expect(text(found, 2)).toBe('{"role":"user","content":[{"text":"é" ,"content":[{"a":1}]}]}')
  expect(text(found, 3)).toBe(
    '{"role":"user","content":[{"type":"tool_result","text":"é","content":[{ "a":1}]}]}',
  )
  expect(text(found, 4)).toBe('{}')
})

it('takes a breakpoint out of a block and of a part behind it', () => {
  const part = `{"type":"text","text":"a",${mark}}`
  const found = request(
    `{"content":[{${mark},"type":"tool_result","content":[${part}]}],"role":"user"}`,
  )
  expect(text(found, 0)).toBe(
    '{"content":[{"type":"tool_result","content":[{"type":"text","text":"a"}]}],"role":"user"}',
  )
})

it('takes both names of a breakpoint out', () => {
  const found = request(`{"content":[{${mark},"prompt_cache_breakpoint":{},"type":"text"}]}`)
  expect(text(found, 0)).not.toContain('cache')
})
