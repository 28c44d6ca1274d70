import type { Hint, HintFamily } from '../hint.ts'
import { elision } from './elision.ts'
import type { Family } from './family.ts'
import { format } from './format.ts'
import { lines } from './lines.ts'
import { metadata } from './metadata.ts'
import { nearReference } from './near-reference.ts'
import { overflow } from './overflow.ts'
import { reference } from './reference.ts'

/** Every family of hints. Their first words differ, so a line belongs to at most one of them. */
export const FAMILIES: {
  readonly [F in HintFamily]: Family<Extract<Hint, { family: F }>>
} = { reference, near_reference: nearReference, lines, overflow, format, metadata, elision }
