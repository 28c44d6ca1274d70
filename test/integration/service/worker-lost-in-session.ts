import { z } from 'zod'
import type { EncodeRequest } from '../../../src/core/contract/encode.ts'
import type { Operation, OperationContext } from '../../../src/core/operations/operation.ts'
import { OPERATIONS } from '../../../src/core/operations/registry.ts'
import { startThread } from '../../../workers/thread.ts'

const { encode } = OPERATIONS
if (encode === undefined) throw new Error('there is no such operation')

/** A thread that ends where the index or the memory of bodies is called for the nth time. */
const endAt: Operation<EncodeRequest & { end_at: number }> = {
  name: 'end-at',
  request: z.object({ end_at: z.int() }).loose() as never,
  answer: z.unknown(),
  run({ end_at, ...request }, context) {
    let calls = 0
    const counted = <T extends object>(object: T): T =>
      new Proxy(object, {
        get(target, name) {
          const member = Reflect.get(target, name) as unknown
          if (typeof member !== 'function') return member
          return (...args: unknown[]) => {
            if (++calls === end_at) process.exit(1)
            return member.apply(target, args)
          }
        },
      })
    const { sessions } = context
    const watched: OperationContext = {
      ...context,
      ...(sessions && {
        sessions: {
          ...sessions,
          index: counted(sessions.index),
          bodies: counted(sessions.bodies),
        },
      }),
    }
    const done = encode.run(request, watched)
    if (calls < end_at) throw new Error(`only ${calls} calls`)
    return done
  },
}

export const runBatch = startThread({ ...OPERATIONS, 'end-at': endAt as Operation })
