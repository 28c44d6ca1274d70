import { batchOperation } from './batch.ts'
import { compressOperation } from './compress.ts'
import { countOperation } from './count.ts'
import { decodeOperation } from './decode.ts'
import { dedupOperation } from './dedup.ts'
import { encodeOperation } from './encode.ts'
import { keepInputOperation } from './keep-input.ts'
import { knapsackOperation } from './knapsack.ts'
import type { Operation } from './operation.ts'

/** Every operation by its name: what a worker can be asked to do. */
export const OPERATIONS: Readonly<Record<string, Operation>> = Object.assign(Object.create(null), {
  encode: encodeOperation,
  decode: decodeOperation,
  dedup: dedupOperation,
  count: countOperation,
  compress: compressOperation,
  inputs: keepInputOperation,
  knapsack: knapsackOperation,
  batch: batchOperation([
    encodeOperation,
    decodeOperation,
    dedupOperation,
    countOperation,
    knapsackOperation,
  ] as readonly Operation[]),
})
