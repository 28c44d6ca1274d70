type Json = unknown

/**
 * The value of a text of changes, by a reader that knows nothing but its lines: it takes the
 * earlier answer, and what is listed is now.
 */
export function readPlainly(content: string, earlier: Json): Json {
  const [, ...lines] = content.split('\n')
  const whole = { value: structuredClone(earlier) }
  while (lines.length > 0) {
    const line = lines.shift()!
    const { steps, rest } = placeIn(line)
    const table = /^, (\d+) of (\d+) rows:$/.exec(rest)
    if (table === null) {
      if (!rest.startsWith(': ')) throw new Error(`no change: ${line}`)
      set(whole, ['value', ...steps], scalarOf(rest.slice(2)))
      continue
    }
    const rows = get(whole, ['value', ...steps]) as Record<string, Json>[]
    if (rows.length !== Number(table[2])) throw new Error(`not so many rows: ${line}`)
    const [name, ...columns] = cellsOf(lines.shift()!).map(cell => nameOf(cell))
    for (const row of lines.splice(0, Number(table[1]))) {
      const [key, ...cells] = cellsOf(row).map(scalarOf)
      const named = rows.filter(each => each[name!] === key)
      if (named.length !== 1) throw new Error(`${named.length} rows: ${row}`)
      for (const [at, cell] of cells.entries()) set(named[0], [columns[at]!], cell)
    }
  }
  return whole.value
}

function placeIn(line: string) {
  const steps: (string | number)[] = []
  let rest = line.startsWith('$') ? line.slice(1) : line
  for (;;) {
    const match = /^(?:\[(\d+)\]|\.?("(?:[^"\\]|\\.)*"|[\w-]+))/.exec(rest)
    if (match === null) return { steps, rest }
    steps.push(match[1] === undefined ? nameOf(match[2]!) : Number(match[1]))
    rest = rest.slice(match[0].length)
  }
}

const cellsOf = (line: string) => line.match(/"(?:[^"\\]|\\.)*"|[^,"]+/g) ?? []
const nameOf = (text: string) => (text.startsWith('"') ? (JSON.parse(text) as string) : text)

function scalarOf(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

type Holder = Record<string | number, Json>

function get(from: Json, steps: readonly (string | number)[]): Json {
  return steps.reduce<Json>((at, step) => (at as Holder)[step], from)
}

function set(into: Json, steps: readonly (string | number)[], value: Json): void {
  const holder = get(into, steps.slice(0, -1)) as Holder
  const step = steps.at(-1)!
  if (!Object.hasOwn(holder, step)) throw new Error(`no ${step}`)
  Object.defineProperty(holder, step, {
    value,
    writable: true,
    enumerable: true,
    configurable: true,
  })
}
