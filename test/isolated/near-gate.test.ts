import { expect, it, vi } from 'vitest'
import { pipelineSchema } from '../../src/core/pipeline/profile/pipeline-config.ts'
import { createLocalSessions } from '../../src/library/local-sessions.ts'
import { localContext } from '../support/local-context.ts'

const wrong = vi.hoisted(() => ({ isOn: false }))

vi.mock('../../src/core/sessions/near/find-changes.ts', async original => {
  const actual = await original<typeof import('../../src/core/sessions/near/find-changes.ts')>()
  const { findChanges } = actual
  return {
    ...actual,
    findChanges(...args: Parameters<typeof findChanges>) {
      const changes = findChanges(...args)
      return wrong.isOn && changes !== null ? changes.slice(1) : changes
    },
  }
})

it.each([
  [false, 'near@1'],
  [true, 'tree@2'],
])('changes that do not restore the text do not leave: wrong %s, %s', (isWrong, format) => {
  wrong.isOn = isWrong
  const pipeline = pipelineSchema.parse({ dedup: { near_ref_enabled: true } })
  const context = { ...localContext(), pipeline }
  const sessions = createLocalSessions(context, { bodyBytes: 1 << 20 })
  const steps = Array.from({ length: 60 }, (_, step) => ({ name: `step ${step}`, ms: step * 31 }))
  const jobOf = (id: number, status: string) => JSON.stringify({ id, status, steps })
  const call = { session: 's', tool: 'get_job', args: { id: 7 } }
  sessions.encode({ ...call, content: jobOf(7, 'pending') })
  const content = jobOf(8, 'done')
  const answer = sessions.encode({ ...call, content, formats: ['near', 'tree'] })
  expect(answer.format).toBe(format)
  const { content: text } = answer
  expect(sessions.decode({ content: text, format: answer.format, session: 's' }).content).toBe(
    content,
  )
})
