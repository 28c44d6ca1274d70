import { describe, expect, it } from 'vitest'
import { guardJson } from '../../../../src/core/contract/envelope-guard.ts'
import { FigureReader } from '../../../../src/core/conversation/usage/figure-reader.ts'
import { RANGE } from '../../../../src/core/json/bytes/json-node.ts'
import {
  endOfScalar,
  endOfString,
  passOverString as passOverBytes,
  skipSpace,
} from '../../../../src/core/json/bytes/json-tokens.ts'
import { readJson } from '../../../../src/core/json/bytes/read-json.ts'
import { parseJson } from '../../../../src/core/json/parse-json.ts'
import { passOverScalar, passOverString } from '../../../../src/core/json/text-tokens.ts'
import { selectPath } from '../../../../src/core/parts/json-path.ts'
import { parsePath } from '../../../../src/core/parts/path-steps.ts'
import { createScalarScanner } from '../../../../src/core/sessions/near/find-changes.ts'
import { BAD_STRINGS, NO_TOKENS, PYTHON_NUMBERS, SPACES, TOKENS } from './token-cases.ts'

const LIMITS = { maxBytes: 1_000, maxDepth: 8, maxValues: 100 }
const isString = (token: string) => token.startsWith('"')
const objectOf = (token: string, space: string) =>
  ['{', '"k"', ':', token, ',', '"last"', ':', '7', '}'].join(space)

/** Each scanner of JSON: the first member of an object, and whether it takes the text. */
const SCANNERS: Readonly<Record<string, (text: string) => string | null>> = {
  parseJson(text) {
    const start = text.indexOf(':') + 1
    const value = parseJson(text, { start, prefix: true })
    return parseJson(text).ok && value.ok ? text.slice(start, value.end).trimStart() : null
  },
  readJson(text) {
    const key = { name: 'k', bytes: Buffer.from('k'), value: RANGE }
    const node = readJson(Buffer.from(text), { keys: [key], items: null }, LIMITS)
    const member = node?.members?.[0]
    return member === undefined
      ? null
      : Buffer.from(text).subarray(member.start, member.end).toString()
  },
  selectPath(text) {
    try {
      return Buffer.from(selectPath(Buffer.from(text), parsePath('$.k')).content).toString()
    } catch {
      return null
    }
  },
}

/** Scanners that pass over what another one checks. */
const LENIENT: Readonly<Record<string, (text: string) => string | null>> = {
  'scalar scanner': text => {
    const scanner = createScalarScanner(text)
    return scanner.next() ? text.slice(scanner.start(), scanner.end()) : null
  },
}

describe.each(Object.entries({ ...SCANNERS, ...LENIENT }))('%s', (_, firstMember) => {
  it.each(TOKENS)('takes %s amid all white space', token => {
    for (const space of SPACES) expect(firstMember(objectOf(token, space))).toBe(token)
  })
})

describe.each(Object.entries(SCANNERS))('%s', (_, firstMember) => {
  it.each(NO_TOKENS)('refuses %s', token => {
    for (const space of SPACES) expect(firstMember(objectOf(token, space))).toBe(null)
  })
})

describe.each(['parseJson', 'readJson'])('%s', name => {
  it.each(BAD_STRINGS)('refuses %j', token => {
    expect(SCANNERS[name]!(objectOf(token, ' '))).toBe(null)
  })
})

describe.each(PYTHON_NUMBERS)('%s', token => {
  it.each(['parseJson', 'selectPath', 'scalar scanner'])('is taken of a result by %s', name => {
    const read = { ...SCANNERS, ...LENIENT }[name]!
    for (const space of SPACES) expect(read(objectOf(token, space))).toBe(token)
  })

  it('is refused in messages', () => {
    expect(SCANNERS['readJson']!(objectOf(token, ' '))).toBe(null)
    expect(endOfScalar(Buffer.from(`1${token},`), 1)).toBe(-1)
  })
})

it.each(TOKENS)('the guard counts no values within %s', token => {
  for (const space of SPACES) {
    const bytes = Buffer.from(objectOf(token, space))
    // A container counts once more for itself.
    expect(() => guardJson(bytes, { maxDepth: 1, maxValues: 3 })).not.toThrow()
    expect(() => guardJson(bytes, { maxDepth: 1, maxValues: 2 })).toThrow('more than 2 values')
  }
})

it.each(TOKENS)('a stream cut anywhere finds the figure after %s', token => {
  for (const space of SPACES) {
    const bytes = Buffer.from(objectOf(token, space))
    for (let cut = 0; cut <= bytes.length; cut++) {
      const figures: string[] = []
      const reader = new FigureReader({ last: 'last' }, (_, text) => figures.push(text))
      reader.read(bytes.subarray(0, cut))
      reader.read(bytes.subarray(cut))
      expect(figures).toEqual(['7'])
    }
  }
})

describe('tokens', () => {
  it.each(TOKENS)('%s ends where it does, in bytes and in text', token => {
    const text = `1${token},`
    const bytes = Buffer.from(text)
    const end = bytes.length - 1
    if (isString(token)) {
      expect(endOfString(bytes, 1)).toBe(end)
      expect(passOverBytes(bytes, 1)).toBe(end)
      expect(passOverString(text, 1)).toBe(text.length - 1)
    } else {
      expect(endOfScalar(bytes, 1)).toBe(end)
      expect(passOverScalar(text, 1)).toBe(text.length - 1)
    }
  })

  it.each(BAD_STRINGS)('%j is passed over, but no string', token => {
    const bytes = Buffer.from(token)
    expect(passOverBytes(bytes, 0)).toBe(bytes.length)
    expect(endOfString(bytes, 0)).toBe(-1)
  })

  it.each(['"', '"a', '"\\"', '"\\'])('%s has no end', token => {
    const bytes = Buffer.from(token)
    expect(passOverBytes(bytes, 0)).toBe(-1)
    expect(endOfString(bytes, 0)).toBe(-1)
    expect(passOverString(token, 0)).toBe(token.length)
  })

  it.each(SPACES)('white space %j is passed over', space => {
    expect(skipSpace(Buffer.from(`${space}1`), 0)).toBe(space.length)
    expect(skipSpace(Buffer.from(space), 0)).toBe(space.length)
  })
})
