import type { Rival } from './rivals.ts'

/** A body that no other operation has: its number is written into it. */
function numberBody(body: Buffer, operation: number): Buffer {
  body.writeDoubleLE(operation)
  return body
}

/**
 * Nanoseconds of the thread's own processor time: what other processes take of a busy machine is
 * not counted.
 */
function processorTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) * 1000
}

/** Nanoseconds of one operation, over `count` of them from number `first` on. */
export async function perSee(
  rival: Rival,
  bytes: number,
  first: number,
  count: number,
): Promise<number> {
  const body = Buffer.alloc(bytes, 'x')
  const started = processorTime()
  for (let i = first; i < first + count; i++) rival.see(numberBody(body, i), i)
  await rival.settled()
  return (processorTime() - started) / count
}

export function perCheck(rival: Rival, identities: readonly string[], count: number): number {
  const started = processorTime()
  for (let i = 0; i < count; i++) {
    if (rival.check(identities[i % identities.length]!, i)) throw new Error('never recorded')
  }
  return (processorTime() - started) / count
}

/** Each operation's own nanoseconds. */
export function eachSee(rival: Rival, bytes: number, first: number, count: number): number[] {
  const body = Buffer.alloc(bytes, 'x')
  return Array.from({ length: count }, (_, i) => {
    numberBody(body, first + i)
    const started = process.hrtime.bigint()
    rival.see(body, first + i)
    return Number(process.hrtime.bigint() - started)
  })
}
