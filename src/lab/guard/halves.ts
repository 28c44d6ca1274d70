import { createHmac } from 'node:crypto'

/** Conversations that proposals are chosen by, and those that they are judged by. */
export interface Halves<T> {
  readonly chosen: readonly T[]
  readonly unseen: readonly T[]
}

/**
 * Splits conversations by a keyed hash of their ids, so that a conversation is in the same half in
 * each analysis, and its author cannot choose the half.
 */
export function splitByHash<T extends { readonly id: string }>(
  all: readonly T[],
  key: string | Uint8Array,
): Halves<T> {
  const isChosen = ({ id }: T) => (createHmac('sha256', key).update(id).digest()[0]! & 1) === 0
  return { chosen: all.filter(isChosen), unseen: all.filter(each => !isChosen(each)) }
}
