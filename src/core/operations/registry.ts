import { ROUTE_NAMES } from '../dialects/lookup.ts'
import { batchOperation } from './batch.ts'
import { compressOperation } from './compress.ts'
import { countOperation } from './count.ts'
import { decodeOperation } from './decode.ts'
import { dedupOperation } from './dedup.ts'
import { encodeOperation } from './encode.ts'
import { JOIN_SESSION, joinSessionOperation } from './join-session.ts'
import { keepInputOperation } from './keep-input.ts'
import { knapsackOperation } from './knapsack.ts'
import type { ByteOperation, Operation } from './operation.ts'
import { packResultOperation } from './pack-result.ts'
import { planOperation } from './plan.ts'
import { readOffersOperation } from './read-offers.ts'
import { rewriteRequestOperation } from './rewrite-request.ts'
import { showResultOperation } from './show-result.ts'

/** The operations of a worker, by name. */
export type Operations = Readonly<Record<string, Operation | ByteOperation>>

/** Every operation on an envelope by its name. Clients can request these. */
export const OPERATIONS: Readonly<Record<string, Operation>> = Object.assign(Object.create(null), {
  encode: encodeOperation,
  decode: decodeOperation,
  dedup: dedupOperation,
  count: countOperation,
  compress: compressOperation,
  inputs: keepInputOperation,
  knapsack: knapsackOperation,
  plan: planOperation,
  show_result: showResultOperation,
  [JOIN_SESSION]: joinSessionOperation,
  batch: batchOperation([
    encodeOperation,
    decodeOperation,
    dedupOperation,
    countOperation,
    knapsackOperation,
  ] as readonly Operation[]),
})

/** Every operation on bytes by its name. The proxies and the MCP gateway use these. */
export const BYTE_OPERATIONS: Readonly<Record<string, ByteOperation>> = Object.fromEntries(
  [...ROUTE_NAMES.map(rewriteRequestOperation), packResultOperation, readOffersOperation].map(
    operation => [operation.name, operation],
  ),
)
