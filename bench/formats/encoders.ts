import { createRequire } from 'node:module'
import { isDeepStrictEqual } from 'node:util'
import * as toon from '@toon-format/toon'
import { TRON } from '@tron-format/tron'
import { dumps, loads } from '@zenoaihq/tson'

/** A format of another project, with its own encoder and decoder. */
export interface Peer {
  readonly name: string
  readonly version: string
  encode(this: void, value: unknown): string
  decode(this: void, text: string): unknown
}

export const PEERS: readonly Peer[] = [
  {
    name: 'TOON',
    version: versionOf('@toon-format/toon'),
    encode: value => toon.encode(value),
    decode: text => toon.decode(text),
  },
  {
    name: 'TOON, tabs',
    version: versionOf('@toon-format/toon'),
    encode: value => toon.encode(value, { delimiter: '\t' }),
    decode: text => toon.decode(text),
  },
  {
    name: 'TSON',
    version: versionOf('@zenoaihq/tson'),
    encode: value => dumps(value as Parameters<typeof dumps>[0]),
    decode: text => loads(text),
  },
  {
    name: 'TRON',
    version: versionOf('@tron-format/tron'),
    encode: value => TRON.stringify(value),
    decode: text => TRON.parse(text) as unknown,
  },
]

/**
 * The text of a peer, if its own decoder gives the value back; `null` if it does not, or if one of
 * both throws. The order of keys is not compared.
 */
export function losslessText({ encode, decode }: Peer, value: unknown): string | null {
  try {
    const text = encode(value)
    return isDeepStrictEqual(decode(text), value) ? text : null
  } catch {
    return null
  }
}

/** The version of an installed package, whose `exports` need not name its package.json. */
function versionOf(name: string): string {
  const require = createRequire(import.meta.url)
  for (const folder of require.resolve.paths(name) ?? []) {
    try {
      return (require(`${folder}/${name}/package.json`) as { version: string }).version
    } catch {
      // Not in this folder: a later one has it.
    }
  }
  throw new Error(`${name} is not installed`)
}
