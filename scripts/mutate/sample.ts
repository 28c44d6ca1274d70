import { createHash } from 'node:crypto'

/** Which changes are tried: about `percent` of them, others for another `seed`. */
export interface Sample {
  readonly seed: string
  readonly percent: number
}

const HASH_DIGITS = 12

/** Whether the change with this `id` is in `sample`: by a hash, so that every process agrees. */
export function inSample({ seed, percent }: Sample, id: string): boolean {
  const hash = createHash('sha256').update(`${seed}/${id}`).digest('hex')
  return Number.parseInt(hash.slice(0, HASH_DIGITS), 16) < (percent / 100) * 16 ** HASH_DIGITS
}
