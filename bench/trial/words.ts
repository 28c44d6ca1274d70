import type { Random } from '../../src/lab/bill/statistics.ts'

const FIRST =
  'amber brisk cedar dusky early frost gilded hollow inner jade keen lunar mossy north olive pale quiet russet silver tidal upper velvet warm young'.split(
    ' ',
  )
const SECOND =
  'anchor barge canal dock eddy ferry gate harbor inlet jetty keel lantern mast net oar pier quay rope sail tug umber vane wharf yard'.split(
    ' ',
  )
const NAMES =
  'Ada Bruno Carla Dmitri Elif Farid Greta Hiro Ines Jonas Kofi Lena Marta Nils Olga Pavel Rosa Sven Tara Uma'.split(
    ' ',
  )
const SURNAMES =
  'Abel Brandt Costa Dahl Engel Fischer Garcia Holm Ivers Jansen Keller Lopez Moreau Novak Okafor Petrov Quinn Rossi Silva Tamm'.split(
    ' ',
  )

/** One of a list. */
export const pick = <T>(random: Random, list: readonly T[]): T => list[random(list.length)]!

/** A whole number between two, both included. */
export const between = (random: Random, least: number, most: number): number =>
  least + random(most - least + 1)

/** So many different pairs of words, such as `tidal` and `pier`. */
export function wordPairs(random: Random, count: number): readonly (readonly [string, string])[] {
  const all = FIRST.flatMap(first => SECOND.map(second => [first, second] as const))
  return shuffle(random, all).slice(0, count)
}

export const personName = (random: Random): string =>
  `${pick(random, NAMES)} ${pick(random, SURNAMES)}`

/** The list in a random order. */
export function shuffle<T>(random: Random, list: readonly T[]): T[] {
  const all = [...list]
  for (let at = all.length - 1; at > 0; at--) {
    const other = random(at + 1)
    const kept = all[at]!
    all[at] = all[other]!
    all[other] = kept
  }
  return all
}
