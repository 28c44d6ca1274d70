/**
 * A JSON text of a value, with keys, escapes, numbers and white space written in some way that JSON
 * allows.
 */
export function writeLoosely(value: unknown, seed: number): string {
  const below = generator(seed)
  const space = (): string => ['', '', '', ' ', '\n', '\t\r\n  '][below(6)]!
  const write = (each: unknown): string => space() + spell(each) + space()

  function spell(each: unknown): string {
    if (typeof each === 'string') return writeString(each, below)
    if (typeof each === 'number') return writeNumber(each, below)
    if (typeof each !== 'object' || each === null) return String(each)
    if (Array.isArray(each)) return each.length === 0 ? `[${space()}]` : `[${each.map(write)}]`
    const entries = shuffled(Object.entries(each), below)
    const members = entries.map(
      ([key, of]) => `${space()}${writeString(key, below)}${space()}:${write(of)}`,
    )
    return entries.length === 0 ? `{${space()}}` : `{${members}}`
  }

  return write(value)
}

function writeString(text: string, below: (bound: number) => number): string {
  const unit = (c: string): string => {
    const escaped = JSON.stringify(c).slice(1, -1)
    const choice = below(12)
    if (choice === 0 && c.length === 1) {
      return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
    }
    if (choice === 1 && c.length === 2) {
      return `\\u${c.charCodeAt(0).toString(16).toUpperCase()}\\u${c.charCodeAt(1).toString(16)}`
    }
    return choice === 2 && c === '/' ? '\\/' : escaped
  }
  return `"${[...text].map(unit).join('')}"`
}

function writeNumber(number: number, below: (bound: number) => number): string {
  if (Object.is(number, -0)) return '-0.0'
  const plain = String(number)
  if (!Number.isSafeInteger(number)) return plain
  return [plain, `${plain}.0`, `${plain}e0`, `${plain}.0E-0`, `${plain}.00e+0`][below(5)]!
}

function shuffled<T>(list: readonly T[], below: (bound: number) => number): T[] {
  const out = [...list]
  for (let i = out.length - 1; i > 0; i--) {
    const j = below(i + 1)
    ;[out[i], out[j]] = [out[j]!, out[i]!]
  }
  return out
}

/** A xorshift generator. */
export function generator(seed: number): (bound: number) => number {
  let state = seed | 0 || 1
  return bound => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % bound
  }
}
