import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTaskThread, type TaskThread } from '../../../src/runtime/task-thread.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'

const module = bundledWorker(new URL('worker-tasks.ts', import.meta.url))
let thread: TaskThread<{ task: (input: string) => unknown }>
let lost: string[]
let bugs: string[]
afterEach(() => thread.close())

function start(options: { limitMs?: number; maxWaiting?: number; module?: URL } = {}): void {
  lost = []
  bugs = []
  thread = createTaskThread({
    name: 'tests',
    module,
    ...options,
    onLost: reason => lost.push(reason),
    onBug: bug => bugs.push(bug),
  })
}

/** A task that comes to what `input` says. */
const run = (input: string, by = 'acme') => thread.run(by, 'task', input)
const said = (code: string) => expect.objectContaining({ code })

describe('a thread for tasks', () => {
  it('gives what a task gives, and says what it refuses', async () => {
    start()
    expect(await run('this')).toBe('this')
    await expect(run('refuse')).rejects.toEqual(said('invalid_request'))
    await expect(run('bug')).rejects.toEqual(said('internal'))
    expect([bugs, lost]).toEqual([['why'], []])
  })

  it.each([
    ['hangs', 'hang', 'timeout'],
    ['dies', 'die', 'worker_lost'],
  ])(
    'is replaced where it %s, and loses that task alone',
    async (_, input, code) => {
      // Other work on the machine must not make the good tasks late.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      start({ limitMs: 1_000 })
      const tasks = [run('first'), run(input), run('third')]
      await tasks[0]
      if (input === 'hang') vi.advanceTimersByTime(1_000)
      expect(await Promise.allSettled(tasks)).toMatchObject([
        { value: 'first' },
        { reason: { code, extras: { retry_after_s: 1 } } },
        { value: 'third' },
      ])
      expect(lost).toHaveLength(1)
    },
    60_000,
  )

  it('fails tasks where no thread can be started, and ends no process', async () => {
    start({ module: new URL('https://example.com/thread.js') })
    const tasks = await Promise.allSettled([run('one'), run('two')])
    expect(tasks).toMatchObject([
      { reason: { code: 'worker_lost' } },
      { reason: { code: 'worker_lost' } },
    ])
  })

  it('gives whoever waits the same time', async () => {
    start()
    const order: string[] = []
    const tasks = [...Array.from({ length: 20 }, () => 'many'), 'few'].map(async by => {
      await run('x', by)
      order.push(by)
    })
    await Promise.all(tasks)
    expect(order.indexOf('few')).toBeLessThan(4)
  })

  it('refuses what would only wait, and lets nobody take all places', async () => {
    start({ maxWaiting: 10 })
    const ends = await Promise.allSettled([
      ...Array.from({ length: 10 }, () => run('x', 'many')),
      run('x', 'few'),
    ])
    const codes = ends.map(end => (end.status === 'fulfilled' ? 'ok' : end.reason.code))
    // One is under way, five wait.
    expect(codes.slice(0, 10).filter(code => code === 'overloaded')).toHaveLength(4)
    expect(codes[10]).toBe('ok')
  })

  it('fails what waits and what is under way when it is closed, and everything after', async () => {
    start()
    await run('warm')
    const tasks = Promise.allSettled([run('hang'), run('waits')])
    await thread.close()
    expect(await tasks).toMatchObject([
      { reason: { code: 'worker_lost' } },
      { reason: { code: 'overloaded' } },
    ])
    await expect(run('late')).rejects.toEqual(said('overloaded'))
    expect(lost).toEqual([])
  })
})
