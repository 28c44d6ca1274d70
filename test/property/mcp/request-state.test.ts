import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { RequestStates, STATE_MS } from '../../../src/mcp/fronts/modern/request-state.ts'
import { Seal } from '../../../src/mcp/fronts/modern/seal.ts'
import { TaskHandles } from '../../../src/mcp/fronts/modern/task-handles.ts'
import { anyText } from '../../support/any-text.ts'
import { runs } from '../../support/runs.ts'

const CALLER = { tenant: 't', credential: 'c' }
const requestOf = (changes: object = {}, params = '{"name":"a","arguments":{"x":1,"y":[2]}}') => ({
  ...{ server: 's', isModern: true, method: 'tools/call', timeoutMs: 1 },
  params: Buffer.from(params),
  ...changes,
})

const key = randomBytes(32)
let time = 1e12
const states = new RequestStates(new Seal(key), () => time)
const written = (state: string) =>
  states.write(requestOf(), CALLER, { kind: 'server', state: Buffer.from(state) })
const read = (given: string, request = requestOf(), caller = CALLER) =>
  states.read(request, caller, Buffer.from(given))

it('gives back every state, byte for byte', () => {
  fc.assert(
    fc.property(anyText(), text => {
      const state = JSON.stringify(text)
      expect(String((read(written(state)) as { state: Buffer }).state)).toBe(state)
    }),
    { numRuns: runs(500) },
  )
})

it('refuses a state with any bit changed, cut or added', () => {
  const good = written('"of the server"')
  const text: string = JSON.parse(good)
  for (let at = 0; at < text.length; at++) {
    for (let bit = 0; bit < 8; bit++) {
      const code = text.charCodeAt(at) ^ (1 << bit)
      const changed = text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
      expect(read(JSON.stringify(changed))).toBeNull()
    }
    expect(read(JSON.stringify(text.slice(0, at)))).toBeNull()
  }
  const raw = Buffer.from(text, 'base64url')
  for (let at = 0; at < raw.length * 8; at++) {
    const changed = Buffer.from(raw)
    changed[at >> 3]! ^= 1 << (at & 7)
    expect(read(JSON.stringify(changed.toString('base64url')))).toBeNull()
  }
  for (const added of ['A', '=', ' ', '\n', '.'])
    expect(read(JSON.stringify(text + added))).toBeNull()
  for (const other of ['""', '7', 'null', '{}', `[${good}]`]) expect(read(other)).toBeNull()
  expect(read(good)).not.toBeNull()
})

it.each<[string, object, object]>([
  ['another tenant', {}, { tenant: 'u' }],
  ['another credential', {}, { credential: 'd' }],
  ['another server', { server: 'r' }, {}],
  ['another method', { method: 'prompts/get' }, {}],
  ['another tool', requestOf({}, '{"name":"b","arguments":{"x":1,"y":[2]}}'), {}],
  ['other arguments', requestOf({}, '{"name":"a","arguments":{"x":2,"y":[2]}}'), {}],
  ['no arguments', requestOf({}, '{"name":"a"}'), {}],
  ['a number in another spelling', requestOf({}, '{"name":"a","arguments":{"x":1.0,"y":[2]}}'), {}],
])('refuses a state of %s', (_, request, caller) => {
  const good = written('"s"')
  expect(read(good, { ...requestOf(), ...request }, { ...CALLER, ...caller })).toBeNull()
})

it('takes the same arguments in another spelling', () => {
  const again =
    '{"arguments":{ "y":[2],"x":1},"name":"\\u0061","requestState":"-","inputResponses":{}}'
  expect(read(written('"s"'), requestOf({}, again))).not.toBeNull()
})

it('tells two large numbers apart', () => {
  const of = (n: string) => requestOf({}, `{"name":"a","arguments":{"x":${n}}}`)
  const state = { kind: 'parked', id: 'x' } as const
  const good = states.write(of('12345678901234567890'), CALLER, state)
  expect(read(good, of('12345678901234567890'))).toEqual(state)
  expect(read(good, of('12345678901234567891'))).toBeNull()
})

it('refuses a state after ten minutes, and of another key', () => {
  const good = written('"s"')
  time += STATE_MS
  expect(read(good)).not.toBeNull()
  time += 1
  expect(read(good)).toBeNull()
  const others = new RequestStates(new Seal(randomBytes(32)), () => 0)
  expect(others.read(requestOf(), CALLER, Buffer.from(written('"s"')))).toBeNull()
})

it('names the server of a task to its tenant only', () => {
  const tasks = new TaskHandles(new Seal(key))
  const handle: string = JSON.parse(tasks.write('one', CALLER, Buffer.from('"7\\u0041"')))
  expect(tasks.read({ tenant: 't', credential: 'other' }, handle)).toEqual({
    server: 'one',
    taskId: Buffer.from('"7\\u0041"'),
  })
  expect(tasks.read({ tenant: 'u', credential: 'c' }, handle)).toBeNull()
  expect(tasks.read(CALLER, 'one')).toBeNull()
  // One kind of secret is never taken for the other.
  expect(read(JSON.stringify(handle))).toBeNull()
  expect(tasks.read(CALLER, JSON.parse(written('"s"')))).toBeNull()
})
