import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { sessionKey } from '../../../../../src/core/sessions/index/session-index.ts'
import { attachBodyMemory } from '../../../../../src/core/sessions/lines/body-memory.ts'
import { createBodyMemory } from '../../../../../src/core/sessions/lines/memory-layout.ts'
import { scanText } from '../../../../../src/core/sessions/lines/scan-text.ts'
import { createContext } from '../../../../support/line-references.ts'

const KEY = sessionKey('tenant', 'session')
const OTHER = sessionKey('tenant', 'other')
const BYTES = 1 << 16

const bodyOf = (seed: number, lines = 20) =>
  Array.from({ length: lines }, (_, i) => `line ${i} of body ${seed}, é`).join('\n')

const put = (memory: ReturnType<typeof attachBodyMemory>, text: string, key = KEY) =>
  memory.put(scanText(text, key)!, key, hash('sha256', text))

describe('body memory', () => {
  it('gives back what was put, to its session only', () => {
    const shared = createBodyMemory({ bytes: BYTES })
    const text = bodyOf(1)
    expect(put(attachBodyMemory(shared), text)).toBe(true)
    const reader = attachBodyMemory(shared)
    expect(reader.read(hash('sha256', text), KEY)).toBe(text)
    expect(reader.read(hash('sha256', text), OTHER)).toBeNull()
    expect(reader.read(hash('sha256', 'other'), KEY)).toBeNull()
  })

  it('works on memory of one thread too', () => {
    const shared = createBodyMemory({ bytes: BYTES })
    const own = new Uint8Array(new Uint8Array(shared)).buffer
    const memory = attachBodyMemory(own)
    put(memory, bodyOf(2))
    expect(memory.read(hash('sha256', bodyOf(2)), KEY)).toBe(bodyOf(2))
  })

  it('lets the oldest go, whole, over many rounds', () => {
    const memory = attachBodyMemory(createBodyMemory({ bytes: BYTES }))
    for (let seed = 0; seed < 500; seed++) {
      const text = bodyOf(seed, 1 + (seed % 37))
      expect(put(memory, text)).toBe(true)
      expect(memory.read(hash('sha256', text), KEY)).toBe(text)
      const before = bodyOf(seed - 10, 1 + ((seed - 10) % 37))
      if (seed > 10) expect(memory.read(hash('sha256', before), KEY)).toBe(before)
    }
    expect(memory.read(hash('sha256', bodyOf(0, 1)), KEY)).toBeNull()
  })

  it('keeps a body once while it is young', () => {
    const memory = attachBodyMemory(createBodyMemory({ bytes: BYTES }))
    put(memory, bodyOf(1))
    const before = memory.parts.words.slice()
    put(memory, bodyOf(1))
    expect(memory.parts.words).toEqual(before)
  })

  it('keeps no body of more than an eighth', () => {
    const memory = attachBodyMemory(createBodyMemory({ bytes: BYTES }))
    expect(put(memory, 'x'.repeat(BYTES / 8))).toBe(false)
    expect(put(memory, 'x'.repeat(BYTES / 16))).toBe(true)
  })

  it('refuses other sizes and other memory', () => {
    expect(() => createBodyMemory({ bytes: 1000 })).toThrow(RangeError)
    expect(() => createBodyMemory({ bytes: Number.NaN })).toThrow(RangeError)
    expect(() => attachBodyMemory(new ArrayBuffer(1 << 16))).toThrow(RangeError)
  })
})

describe('a memory that changes under its reader', () => {
  /**
   * Changes one byte of the only body's text, as a thread would that was held up for a round of the
   * ring.
   */
  function damage(memory: ReturnType<typeof attachBodyMemory>, text: string): void {
    const at = Buffer.from(memory.parts.bytes).indexOf(text)
    expect(at).toBeGreaterThan(0)
    memory.parts.bytes[at + 5] = 'X'.charCodeAt(0)
  }

  it('a damaged body is not read', () => {
    const memory = attachBodyMemory(createBodyMemory({ bytes: BYTES }))
    put(memory, bodyOf(1))
    damage(memory, bodyOf(1))
    expect(memory.read(hash('sha256', bodyOf(1)), KEY)).toBeNull()
  })

  it('nothing refers to a damaged body, however well it matches', () => {
    const context = createContext()
    context.keep(bodyOf(1))
    expect(context.refer(`${bodyOf(1)}\nnew`)).not.toBeNull()
    damage(context.memory, bodyOf(1))
    expect(context.refer(`${bodyOf(1)}\nnew`)).toBeNull()
  })

  it('a body without its state is not there: its writer was lost', () => {
    const context = createContext()
    context.keep(bodyOf(1))
    const { words, ringStart } = context.memory.parts
    expect(words[ringStart]).toBe(1)
    words[ringStart] = 0
    expect(context.refer(`${bodyOf(1)}\nnew`)).toBeNull()
  })

  it('torn entries of the table lead nowhere', () => {
    const context = createContext()
    context.keep(bodyOf(1))
    context.keep(bodyOf(2))
    const { words, tableStart, ringStart } = context.memory.parts
    for (let at = tableStart; at < ringStart; at++)
      if (at % 3 === 2) words[at] = (words[at]! * 31) | 0
    const text = `${bodyOf(1)}\n${bodyOf(2)}`
    const answer = context.refer(text)
    expect(answer === null ? text : context.restore(answer)).toBe(text)
  })
})
