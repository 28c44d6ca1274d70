import fc from 'fast-check'

/** Code points that are half of a surrogate pair, which no text has. */
const SURROGATES = { first: 0xd800, count: 0x800 }

/**
 * Any character. The same as `unit: 'binary'`, for which each process lists all 1.1 million
 * characters in a map before the first text.
 */
const character = fc.nat(0x10ffff - SURROGATES.count).map(
  n => String.fromCodePoint(n < SURROGATES.first ? n : n + SURROGATES.count),
  value => {
    const code = typeof value === 'string' ? value.codePointAt(0) : undefined
    if (code === undefined || String.fromCodePoint(code) !== value) throw new Error('no character')
    return code < SURROGATES.first ? code : code - SURROGATES.count
  },
)

/** Text of any characters, control characters and unassigned ones included. */
export function anyText(constraints: Omit<fc.StringConstraints, 'unit'> = {}) {
  return fc.string({ ...constraints, unit: character })
}
