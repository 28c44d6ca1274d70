import { expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import { LIMITS, scanned, toolResult, userBlocks } from './scanned.ts'

const route = 'anthropic_messages'
const sound = JSON.stringify(userBlocks(toolResult('a')))
const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`

it('reads a sound body', () => {
  expect(scanned(route, ` ${sound}\r\n`)?.results).toHaveLength(1)
})

it.each([
  ['nothing', ''],
  ['a byte order mark', `\ufeff${sound}`],
  ['a body that is cut off', sound.slice(0, -1)],
  ['a string that is cut off', sound.slice(0, sound.indexOf('"a"') + 2)],
  ['two values', `${sound}{}`],
  ['a list', `[${sound}]`],
  ['a text', '"messages"'],
  ['no messages', '{"model":"m"}'],
  ['messages that are none', '{"messages":{}}'],
  ['a control character in a text', sound.replace('"a"', '"\u0001"')],
  ['an escape that is none', sound.replace('"a"', String.raw`"\x"`)],
  ['half an escape', sound.replace('"a"', String.raw`"\u12"`)],
  ['a comma too many', sound.replace('"a"', '"a",')],
  ['a number that is none', sound.replace('"a"', '01')],
  ['a word that is none', sound.replace('"a"', 'NaN')],
  ['messages twice', sound.replace('{', '{"messages":[],')],
  ['a model twice', sound.replace('{', String.raw`{"mod\u0065l":"x",`)],
])('refuses %s', (_, body) => {
  expect(scanned(route, body)).toBeNull()
})

it('refuses bytes that are no UTF-8', () => {
  const body = Buffer.from(sound)
  body[sound.indexOf('"a"') + 1] = 0xff
  expect(scanRequest(body, route, LIMITS)).toBeNull()
})

it('has limits, each up to the last value', () => {
  const body = Buffer.from(sound.replace('"a"', nested(20)))
  // A request, its messages, a message, its content, a block: five levels, and the 20 in it.
  const most = { maxBytes: body.length, maxDepth: 25, maxValues: 11 }
  expect(scanRequest(body, route, most)).not.toBeNull()
  for (const key of ['maxBytes', 'maxDepth', 'maxValues'] as const) {
    expect(scanRequest(body, route, { ...most, [key]: most[key] - 1 }), key).toBeNull()
  }
})

it('counts levels side by side once', () => {
  const messages = Array.from({ length: 100 }, () => ({
    role: 'user',
    content: [toolResult([{}])],
  }))
  expect(scanned(route, { messages })?.messages).toHaveLength(100)
})

it('reads a key in which every character is an escape', () => {
  const key = [...'type'].map(c => `\\u00${c.charCodeAt(0).toString(16)}`).join('')
  expect(scanned(route, sound.replace('"type"', `"${key}"`))?.results).toHaveLength(1)
})

it('tells a key from one that begins alike', () => {
  const body = sound.replace('"type":', String.raw`"typ":0,"types":0,"type\u0020":0,"":0,"type":`)
  expect(scanned(route, body)?.results).toHaveLength(1)
})

it('reads a body that lies in the middle of a buffer', () => {
  const bytes = Buffer.from(`xx${sound}xx`)
  const found = scanRequest(bytes.subarray(2, 2 + sound.length), route, LIMITS)
  expect(found?.results[0]?.text()).toBe('a')
  expect(sound.slice(found?.results[0]?.start, found?.results[0]?.end)).toBe('"a"')
})
