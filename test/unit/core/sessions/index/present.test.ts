import { expect, it } from 'vitest'
import { attachIndex } from '../../../../../src/core/sessions/index/attach.ts'
import { createIndexMemory } from '../../../../../src/core/sessions/index/layout.ts'
import { sessionKey } from '../../../../../src/core/sessions/index/session-index.ts'

const key = sessionKey('acme', 's')
const open = () => attachIndex(createIndexMemory({ maxSessions: 4, maxEntries: 16 }), { owner: 1 })

it('the present of a session is what its next result is given', () => {
  const index = open()
  expect(index.present(key)).toBeNull()
  index.begin(key, { timeMs: 0 })
  index.compact(key)
  const present = index.present(key)
  expect(index.begin(key, { timeMs: 0 })).toMatchObject({
    epoch: present!.epoch,
    partition: 1,
    sequence: 2,
  })
})

it('a result that came before is not counted again, unless the context is another since', () => {
  const index = open()
  const { sequence, epoch } = index.begin(key, { timeMs: 0 })
  index.begin(key, { timeMs: 0 })
  const again = { sequence, epoch }
  expect(index.begin(key, { timeMs: 0, again }).sequence).toBe(1)
  expect(index.summary(key)?.results).toBe(2)
  index.compact(key)
  expect(index.begin(key, { timeMs: 0, again }).sequence).toBe(3)
})
