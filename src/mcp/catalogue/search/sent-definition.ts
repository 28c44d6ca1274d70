import type { JsonBytes } from '../../../core/json/bytes/json-node.ts'
import { member } from '../../members.ts'
import type { PublicEntry } from '../catalogue.ts'

/** Bytes of a definition for one token: 4.2 to 4.5 in lists of 74 servers (o200k). */
const BYTES_PER_TOKEN = 4.3

type Definition = Pick<PublicEntry, 'publicKey' | 'raw'>

/** What a model gets of a definition: name, description and schema, as the server wrote them. */
export function sentDefinition({ publicKey, raw }: Definition): JsonBytes {
  const parts = [Buffer.from(`{"name":${JSON.stringify(publicKey)}`)]
  for (const name of SENT) {
    const value = member(raw, name)
    if (value != null) parts.push(Buffer.from(`,"${name}":`), Buffer.from(value))
  }
  return Buffer.concat([...parts, Buffer.from('}')])
}

const SENT = ['description', 'inputSchema'] as const

/** Each session counts the definitions of the same lists. */
const known = new WeakMap<JsonBytes, number>()

/** Its tokens in each request, estimated. */
export function definitionTokens({ publicKey, raw }: Definition): number {
  const bytes =
    known.get(raw) ?? SENT.reduce((sum, name) => sum + (member(raw, name)?.length ?? 0), 0)
  known.set(raw, bytes)
  return Math.ceil((bytes + publicKey.length + 40) / BYTES_PER_TOKEN)
}
