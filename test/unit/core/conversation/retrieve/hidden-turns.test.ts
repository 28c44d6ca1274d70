import { describe, expect, it } from 'vitest'
import { scanRequest } from '../../../../../src/core/conversation/parse/scan-request.ts'
import {
  HiddenTurns,
  hiddenTurnKey,
  writeHiddenTurn,
} from '../../../../../src/core/conversation/retrieve/hidden-turns.ts'
import { writeStored } from '../../../../../src/core/conversation/rewrite/stored-rewrite.ts'
import { localContext } from '../../../../support/local-context.ts'

const BODY = Buffer.from('{"messages":[{"role":"user","content":"a"}]}')
const LIMITS = { maxBytes: 1_000, maxDepth: 9, maxValues: 99 }
const route = 'anthropic_messages'
const scanned = scanRequest(BODY, route, LIMITS)!
const place = { tenant: 't', route, conversation: 'c', index: 1, anchor: 'id' } as const
const turn = { shown: 's', anchor: 'id', rounds: [{ shown: 0, items: '{}' }], calls: [] }

const turnsWith = (bytes: Uint8Array) =>
  new HiddenTurns(scanned, 'c', {
    ...localContext(),
    rewrites: {
      tenant: 't',
      memory: { get: () => null, place: () => null, confirm: () => {} },
      recalled: { [hiddenTurnKey(place)]: bytes },
    },
  })

describe('a turn of the model', () => {
  it('has what was hidden from it, by its place and its first call', () => {
    const turns = turnsWith(writeHiddenTurn(turn))
    expect(turns.of(1, 'id')).toEqual(turn)
    expect(turns.questions).toEqual([])
    expect(turns.of(1, 'other')).toBeNull()
    expect(turns.of(2, 'id')).toBeNull()
    expect(turns.questions).toHaveLength(2)
  })

  it.each(['', '{', '[]', '{"shown":1}', '{"shown":"s","anchor":"a","rounds":[{}],"calls":[]}'])(
    'has nothing if its record is %j',
    text => {
      const nothing = { saved: { referred: 0, encoded: 0, elided: 0 }, markers: [], digest: 0 }
      const literal = Buffer.from(text)
      const bytes = writeStored({ ...nothing, sent: 0, isSource: false, literal })
      expect(turnsWith(bytes).of(1, 'id')).toBeNull()
    },
  )
})
