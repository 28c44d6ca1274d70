import { z } from 'zod'
import type { Operation } from '../../src/core/operations/operation.ts'
import { BYTE_OPERATIONS, OPERATIONS } from '../../src/core/operations/registry.ts'
import { startThread } from '../../workers/thread.ts'

const request = z.strictObject({ ms: z.number() })

/** Takes the processor for `ms` milliseconds, however small its request is. */
const burn: Operation<z.infer<typeof request>> = {
  name: 'burn',
  request,
  answer: z.unknown(),
  run({ ms }) {
    const used = () => process.threadCpuUsage().user / 1000
    const end = used() + ms
    while (used() < end);
    return { answer: {}, reports: [] }
  },
}

export const runBatch = startThread({ ...OPERATIONS, ...BYTE_OPERATIONS, burn })
