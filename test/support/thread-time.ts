/** Processor time of this thread in milliseconds: what other work on the machine does not change. */
export function threadTime(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}
