import type { ChildProcess } from 'node:child_process'

const running = new Set<ChildProcess>()

/** Kills a child at the exit of this process, if it still runs then. @returns the child */
export function endWithThis<Child extends ChildProcess>(child: Child): Child {
  if (running.size === 0) process.on('exit', killAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', killAll)
  })
  return child
}

function killAll(): void {
  for (const child of running) child.kill('SIGKILL')
}
