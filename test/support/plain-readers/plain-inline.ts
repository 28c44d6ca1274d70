import type { Json } from './json.ts'

/** A place in a line. */
export interface Place {
  readonly text: string
  at: number
  /** Reads an object that is written in a declared shape, if one is at the place. */
  readonly shaped?: (place: Place) => Json | undefined
}

/** What stands without quotes: a JSON literal or number, or else the string itself. */
export function scalar(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/** The offset behind a string literal at the start of `text`. */
export function quotedAt(text: string): number {
  return /^"(?:[^"\\]|\\.)*"/.exec(text)?.[0].length ?? 0
}

/** The string literal at the place. */
export function quoted(place: Place): string {
  const length = quotedAt(place.text.slice(place.at))
  place.at += length
  return JSON.parse(place.text.slice(place.at - length, place.at)) as string
}

/** The characters up to one of `ends`. */
export function until(place: Place, ends: string): string {
  const start = place.at
  while (place.at < place.text.length && !ends.includes(place.text[place.at] as string)) place.at++
  return place.text.slice(start, place.at)
}

/** Moves over `sign` if it is there. */
export function move(place: Place, sign: string): boolean {
  if (place.text[place.at] !== sign) return false
  place.at++
  return true
}

/** Moves over `sign` if it is there, and over a blank after a comma or colon. */
export function skip(place: Place, sign: string): boolean {
  if (!move(place, sign)) return false
  if (!'[]{}'.includes(sign) && place.text[place.at] === ' ') place.at++
  return true
}

/** A value in brackets, in quotes or bare: JSON whose strings need no quotes. */
export function readValue(place: Place): Json {
  if (place.text[place.at] === '"') return quoted(place)
  if (skip(place, '[')) return readItems(place)
  if (skip(place, '{')) return readMembers(place)
  return place.shaped?.(place) ?? scalar(until(place, ',]}'))
}

/** @throws {Error} if the text is over, and so is none of the grammar */
export function mustGoOn({ text, at }: Place): void {
  if (at >= text.length) throw new Error('a bracket is not closed')
}

function readItems(place: Place): Json {
  const items: Json[] = []
  while (!skip(place, ']')) {
    mustGoOn(place)
    items.push(readValue(place))
    skip(place, ',')
  }
  return items
}

function readMembers(place: Place): Json {
  const members: [string, Json][] = []
  while (place.text[place.at] !== '}') {
    mustGoOn(place)
    const key = place.text[place.at] === '"' ? quoted(place) : until(place, ':')
    skip(place, ':')
    members.push([key, readValue(place)])
    skip(place, ',')
  }
  place.at++
  return Object.fromEntries(members) as Json
}
