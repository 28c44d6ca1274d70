import { formatId } from '../../src/core/formats/json/json-format.ts'
import { FEWEST_TOKENS } from '../../src/core/formats/json/tree/style.ts'
import { tree, treeInStyle } from '../../src/core/formats/json/tree/tree.ts'
import { parseJson } from '../../src/core/json/parse-json.ts'
import type { Construct } from '../../src/core/reading/constructs.ts'
import { createReading } from '../../src/core/reading/price.ts'
import type { TokenCounter } from '../../src/core/tokens/counter.ts'
import type { Random } from '../../src/lab/bill/statistics.ts'
import type { Json } from '../../test/support/plain-readers/json.ts'
import type { Question } from './data-set.ts'
import { distinct, keys, type Made, type Terms, writtenIn } from './pair.ts'
import {
  at,
  column,
  having,
  IF_ABSENT,
  members,
  NOT_THERE,
  pick,
  type Row,
  rowsOf,
  times,
} from './reading.ts'

/** Constructs of trees that never pay for themselves. */
const TOO_DEAR = {
  affix: { each: 1e6 },
  affix_number: { each: 1e6 },
  shape: { text: 1e6 },
  table: { each: 1e6 },
  brackets: { each: 1e6 },
}
/** Without these, most data would be written in a form that is never sent. */
const USUAL = { table: 0, brackets: { each: 0 } }

/** The tree with a construct for nothing, and the one in which it is too dear. */
function trees(construct: Construct, data: Json, counter: TokenCounter) {
  const parsed = parseJson(JSON.stringify(data))
  if (!parsed.ok) throw new Error(parsed.reason)
  const written = (price: object) => {
    const reading = createReading('balanced', { ...TOO_DEAR, ...USUAL, [construct]: price })
    return treeInStyle({ ...FEWEST_TOKENS, reading }).encode(parsed.value, counter)!
  }
  return {
    with: { format: formatId(tree), content: written({ each: 0, share: 0 }) },
    without: written(TOO_DEAR[construct as keyof typeof TOO_DEAR]),
  }
}

const STATES = ['open', 'blocked', 'shipped', 'closed']
const OWNERS = ['mira', 'tom', 'ines', 'odd', 'yuki']
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

export function entriesOf(ids: readonly string[], random: Random): readonly Row[] {
  return ids.map((id, number) => ({
    id,
    state: pick(random, STATES),
    quantity: 1 + random(900),
    owner: pick(random, OWNERS),
    ...(random(3) > 0 ? { note: `n${random(9000)}` } : {}),
    ticket: 3001 + 7 * number,
  }))
}

/** Questions about entries, wherever they are in the data. */
export function aboutEntries(
  data: Json,
  random: Random,
  entries: (data: Json) => readonly Row[] = rowsOf,
  [copied, by]: readonly [string, string] = ['id', 'ticket'],
): readonly Question[] {
  const all = entries(data)
  const [one, other, third] = [pick(random, all), pick(random, all), pick(random, all)]
  const { state, owner, quantity } = other
  const find = (d: Json, name: string, value: Json | undefined) =>
    entries(d).find(row => row[name] === value)
  return [
    [`What is the quantity of ${one['id']}?`, d => find(d, 'id', one['id'])?.['quantity']],
    [
      `Copy the ${copied} of the entry whose ${by} is ${third[by]}, exactly and in full.`,
      d => find(d, by, third[by])?.[copied],
      true,
    ],
    [
      `Which tickets have the state ${state}, the owner ${owner} and a quantity of at least ${quantity}?`,
      d =>
        column(
          having(having(entries(d), 'state', state!), 'owner', owner!).filter(
            row => Number(row['quantity']) >= Number(quantity),
          ),
          'ticket',
        ),
    ],
    [`How many entries have the owner ${owner}?`, d => having(entries(d), 'owner', owner!).length],
    [
      `What is the note of ${third['id']}? ${IF_ABSENT}`,
      d => find(d, 'id', third['id'])?.['note'] || NOT_THERE,
    ],
  ]
}

/** Rows whose ids begin alike, or whose keys stand above them. */
export function rowsPair({ construct, size, random, counter }: Terms): Made {
  const id = {
    affix: () => `node-eu-${times(5, () => pick(random, LETTERS)).join('')}`,
    affix_number: () => `ORD-2026-${10_000 + random(90_000)}`,
  }[construct as string]
  const ids = id === undefined ? keys(size, random) : times(size, id)
  const data = entriesOf([...new Set(ids)], random)
  return { data, ...trees(construct, data, counter), ask: () => aboutEntries(data, random) }
}

/** JSON lines, and the table that they are. */
export function jsonLinesPair({ size, random, counter }: Terms): Made {
  const data = entriesOf(keys(size, random), random)
  const without = data.map(row => JSON.stringify(row)).join('\n')
  const written = writtenIn('ndjson', without, counter)
  return { data, with: written, without, ask: () => aboutEntries(data, random) }
}

/** A padded table of Markdown, and the same without padding. */
export function markdownPair({ size, random, counter }: Terms): Made {
  const names = ['id', 'state', 'quantity', 'owner', 'note', 'ticket']
  const data = entriesOf(keys(size, random), random).map(row =>
    Object.fromEntries(names.map(name => [name, String(row[name] ?? '')])),
  )
  const line = (cells: readonly string[]) => `| ${cells.map(cell => cell.padEnd(9)).join(' | ')} |`
  const rule = names.map(() => '-'.repeat(9))
  const without = [names, rule, ...data.map(row => Object.values(row))].map(line).join('\n')
  return {
    data,
    with: writtenIn('md', without, counter),
    without,
    read: reading => at(reading, 0),
    ask: () => aboutEntries(data, random),
  }
}

const DEVICES = ['lamp', 'fan', 'door', 'heater']

/** Objects of one kind in objects that are no table: as shapes, or in brackets instead of lines. */
export function roomsPair({ construct, size, random, counter }: Terms): Made {
  const tickets = [...distinct(size * 2, random)]
  const rooms = times(Math.ceil(size / 2), room => {
    const devices = DEVICES.filter(() => random(4) > 0).sort(() => random(2) - 0.5)
    const inside = (devices.length > 0 ? devices : ['lamp']).flatMap(device => {
      const state = pick(random, STATES)
      const facts = { state, quantity: random(100), owner: pick(random, OWNERS) }
      return [
        [device, { ...facts, ticket: `s${tickets.pop()}k` }],
        [`after_${device}`, random(9)],
      ] as const
    })
    return [`room_${room}`, { [`size_${random(50)}`]: random(40), ...Object.fromEntries(inside) }]
  })
  const data: Json = Object.fromEntries(rooms)
  const entries = (d: Json) =>
    Object.entries(members(d)).flatMap(([room, inside]) =>
      DEVICES.flatMap(device => {
        const facts = members(inside)[device]
        return facts === undefined ? [] : [{ id: `the ${device} in ${room}`, ...members(facts) }]
      }),
    )
  const ask = () => aboutEntries(data, random, entries, ['ticket', 'id'])
  return { data, ...trees(construct, data, counter), ask }
}
