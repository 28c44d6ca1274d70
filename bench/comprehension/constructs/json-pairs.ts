import { formatId } from '../../../src/core/formats/json/json-format.ts'
import { JSON_FORMATS } from '../../../src/core/formats/json/registry.ts'
import { FEWEST_TOKENS } from '../../../src/core/formats/json/tree/style.ts'
import { tree, treeInStyle } from '../../../src/core/formats/json/tree/tree.ts'
import { ndjson } from '../../../src/core/formats/text/ndjson.ts'
import { parseJson } from '../../../src/core/json/parse-json.ts'
import { createReading } from '../../../src/core/reading/price.ts'
import type { TokenCounter } from '../../../src/core/tokens/counter.ts'
import { createRandom, type Random } from '../../../src/lab/bill/statistics.ts'
import type { Json } from '../../../test/support/plain-readers/json.ts'
import { type Asked, createPair, distinct, NOT_THERE, type Pair, pick, sizeOf } from './pair.ts'

const STATES = ['open', 'blocked', 'shipped', 'closed']
const OWNERS = ['mira', 'tom', 'ines', 'odd', 'yuki']
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz']

type Row = Readonly<Record<string, Json>>

/** Constructs of trees that never pay for themselves. */
const TOO_DEAR = {
  affix: { each: 1e6 },
  affix_number: { each: 1e6 },
  shape: { text: 1e6 },
  table: { each: 1e6 },
  brackets: { each: 1e6 },
}
/** Without these, most data would be written in a form that nobody is sent. */
const USUAL = { table: 0, brackets: { each: 0 } }
const FREE = { each: 0, share: 0 }

/** The tree with a construct for nothing, or too dear. */
function treeWith(
  construct: keyof typeof TOO_DEAR,
  isUsed: boolean,
  data: Json,
  counter: TokenCounter,
): string {
  const price = isUsed ? FREE : TOO_DEAR[construct]
  const reading = createReading('balanced', { ...TOO_DEAR, ...USUAL, [construct]: price })
  const parsed = parseJson(JSON.stringify(data))
  if (!parsed.ok) throw new Error(parsed.reason)
  return treeInStyle({ ...FEWEST_TOKENS, reading }).encode(parsed.value, counter)!
}

function treePair(
  construct: keyof typeof TOO_DEAR,
  seed: number,
  data: Json,
  questions: readonly Asked<Json>[],
  counter: TokenCounter,
): Pair {
  const content = treeWith(construct, true, data, counter)
  return createPair<Json>({
    construct,
    seed,
    data,
    with: { format: formatId(tree), content },
    without: treeWith(construct, false, data, counter),
    read: reading => reading,
    questions,
  })
}

/** Rows whose ids begin alike. */
export function affixPair(
  construct: 'affix' | 'affix_number',
  seed: number,
  counter: TokenCounter,
): Pair {
  const random = createRandom(seed)
  const id =
    construct === 'affix'
      ? () => `node-eu-${Array.from({ length: 5 }, () => pick(random, LETTERS)).join('')}`
      : () => `ORD-2026-${10_000 + random(90_000)}`
  const data = rowsWith(distinct(sizeOf(seed), id), random)
  return treePair(construct, seed, data, aboutRows(data, random), counter)
}

function rowsWith(ids: readonly string[], random: Random): readonly Row[] {
  return ids.map((id, at) => ({
    id,
    state: pick(random, STATES),
    quantity: 1 + random(900),
    owner: pick(random, OWNERS),
    ...(random(3) > 0 ? { note: `n${random(9000)}` } : {}),
    ticket: 3001 + 7 * at,
  }))
}

/** Rows whose keys stand above them, or beside each value. */
export function tablePair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const ids = distinct(sizeOf(seed), () => `k${random(90_000)}`)
  const data = rowsWith(ids, random)
  return treePair('table', seed, data, aboutRows(data, random), counter)
}

const rowsOf = (data: Json) => data as readonly Row[]
const text = (value: Json | undefined) => (value === undefined ? NOT_THERE : String(value))

function aboutRows(rows: readonly Row[], random: Random): readonly Asked<Json>[] {
  const [one, other, third] = [pick(random, rows), pick(random, rows), pick(random, rows)]
  const [state, owner] = [other['state'], other['owner']]
  const find = (data: Json, name: string, value: Json | undefined) =>
    rowsOf(data).find(row => row[name] === value)
  return [
    {
      kind: 'value',
      text: `What is the quantity of ${one['id']}?`,
      answer: data => text(find(data, 'id', one['id'])?.['quantity']),
    },
    {
      kind: 'copy',
      text: `Copy the id of the row whose ticket is ${third['ticket']}, exactly and in full.`,
      answer: data => text(find(data, 'ticket', third['ticket'])?.['id']),
    },
    {
      kind: 'filter',
      text: `Which tickets have the state ${state}, the owner ${owner} and a quantity of at least ${other['quantity']}?`,
      answer: data =>
        rowsOf(data)
          .filter(row => row['state'] === state && row['owner'] === owner)
          .filter(row => Number(row['quantity']) >= Number(other['quantity']))
          .map(row => row['ticket'])
          .join(', '),
    },
    {
      kind: 'count',
      text: `How many rows have the owner ${owner}?`,
      answer: data => String(rowsOf(data).filter(row => row['owner'] === owner).length),
    },
    {
      kind: 'absent',
      text: `What is the note of ${third['id']}? Say "${NOT_THERE}" if it has none.`,
      answer: data => text(find(data, 'id', third['id'])?.['note']),
    },
  ]
}

const DEVICES = ['lamp', 'fan', 'door', 'heater']
type Rooms = Readonly<Record<string, Record<string, Row | number>>>

/** Objects of one kind in objects that are no table: as shapes, or in brackets instead of lines. */
export function roomsPair(
  construct: 'shape' | 'brackets',
  seed: number,
  counter: TokenCounter,
): Pair {
  const random = createRandom(seed)
  const count = Math.ceil(sizeOf(seed) / 2)
  const serials = distinct(count * 4, () => `s${random(90_000)}k`)
  const data: Record<string, Record<string, Row | number>> = {}
  for (let at = 0; at < count; at++) {
    const room: Record<string, Row | number> = { [`size_${random(50)}`]: random(40) }
    const devices = DEVICES.filter(() => random(4) > 0).sort(() => random(2) - 0.5)
    for (const device of devices.length > 0 ? devices : ['lamp']) {
      room[device] = {
        state: pick(random, STATES),
        level: random(100),
        owner: pick(random, OWNERS),
        serial: serials[at * 4 + DEVICES.indexOf(device)]!,
      }
      room[`after_${device}`] = random(9)
    }
    data[`room_${at}`] = room
  }
  const rooms = data as Json
  return treePair(construct, seed, rooms, aboutRooms(data, random), counter)
}

function aboutRooms(rooms: Rooms, random: Random): readonly Asked<Json>[] {
  const names = Object.keys(rooms)
  const place = () => {
    const room = pick(random, names)
    return { room, device: DEVICES.find(name => rooms[room]![name] !== undefined)! }
  }
  const [one, other] = [place(), place()]
  const missing = pick(random, names)
  const state = pick(random, STATES)
  const device = (data: Json, room: string, name: string) =>
    (data as Rooms)[room]?.[name] as Row | undefined
  return [
    {
      kind: 'value',
      text: `What is the level of the ${one.device} in ${one.room}?`,
      answer: data => text(device(data, one.room, one.device)?.['level']),
    },
    {
      kind: 'copy',
      text: `Copy the serial of the ${other.device} in ${other.room} exactly.`,
      answer: data => text(device(data, other.room, other.device)?.['serial']),
    },
    {
      kind: 'filter',
      text: `In which rooms is the state of the lamp ${state}?`,
      answer: data =>
        names.filter(room => device(data, room, 'lamp')?.['state'] === state).join(', ') || 'none',
    },
    {
      kind: 'count',
      text: 'How many heaters are there?',
      answer: data =>
        String(names.filter(room => device(data, room, 'heater') !== undefined).length),
    },
    {
      kind: 'absent',
      text: `Who is the owner of the door in ${missing}? Say "${NOT_THERE}" if it has no door.`,
      answer: data => text(device(data, missing, 'door')?.['owner']),
    },
  ]
}

/** JSON lines, and the table that they are. */
export function jsonLinesPair(seed: number, counter: TokenCounter): Pair {
  const random = createRandom(seed)
  const data = rowsWith(
    distinct(sizeOf(seed), () => `k${random(90_000)}`),
    random,
  )
  const without = data.map(row => JSON.stringify(row)).join('\n')
  const [written] = ndjson.encode(without, { counter, formats: JSON_FORMATS })
  if (written === undefined) throw new Error(`JSON lines of seed ${seed} are no table`)
  const format = `${formatId(ndjson)};${written.style}`
  return createPair<Json>({
    construct: 'json_lines',
    seed,
    data,
    with: { format, content: written.content },
    without,
    read: reading => reading,
    questions: aboutRows(data, random),
  })
}
