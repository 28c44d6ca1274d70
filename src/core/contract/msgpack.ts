import { createRequire } from 'node:module'
import type { Packr, Unpackr } from 'msgpackr'

const require = createRequire(import.meta.url)
let coders: { readonly packr: Packr; readonly unpackr: Unpackr } | undefined

/**
 * Writes and reads MessagePack. Loads msgpackr when it is first called: few bodies are MessagePack,
 * and its native half takes a tenth of a thread's start.
 */
export function msgpack() {
  coders ??= createCoders(require('msgpackr'))
  return coders
}

// Plain maps only: msgpackr's record extension and its other extensions are refused by the guard.
function createCoders({ Packr, Unpackr }: typeof import('msgpackr')) {
  return {
    packr: new Packr({ useRecords: false, variableMapSize: true }),
    unpackr: new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: 'number' }),
  }
}
