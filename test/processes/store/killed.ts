import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSqliteStore } from '../../../src/store/sqlite/client.ts'
import type { StoreEvent } from '../../../src/store/values/store-event.ts'
import { bundledWorker } from '../../support/bundled-worker.ts'
import { bodyOf, MAX_BYTES } from './worker-writer.ts'

const WRITER = fileURLToPath(bundledWorker(new URL('worker-writer.ts', import.meta.url)))

/** A writer process and what it has said so far. */
export interface Writer {
  readonly child: ChildProcess
  readonly lines: string[]
  /** Resolves when it has said so many lines, or has ended. */
  said(count: number): Promise<void>
  /** Resolves when it has ended and everything that it said has arrived. */
  readonly ended: Promise<void>
}

export function startWriter(folder: string, run: string, ...mode: string[]): Writer {
  return watch(spawn(process.execPath, [WRITER, folder, run, ...mode], { stdio: STDIO }))
}

/** The same under a limit of the size of each file it writes, in KiB. */
export function startLimitedWriter(folder: string, run: string, kib: number): Writer {
  const script = `ulimit -S -f ${kib}; exec "$0" "$@"`
  const args = ['-c', script, process.execPath, WRITER, folder, run, 'fill']
  return watch(spawn('bash', args, { stdio: STDIO }))
}

const STDIO = ['pipe', 'pipe', 'inherit'] satisfies ['pipe', 'pipe', 'inherit']

function watch(child: ChildProcess): Writer {
  const lines: string[] = []
  const reader = createInterface({ input: child.stdout! })
  let wake = (): void => {}
  let over = false
  reader.on('line', line => {
    lines.push(line)
    wake()
  })
  const ended = Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => {
    over = true
    wake()
  })
  return {
    child,
    lines,
    ended,
    async said(count) {
      while (lines.length < count && !over) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
    },
  }
}

/** What a check of the folder found. */
export interface Checked {
  /** Acknowledged bodies that are missing or differ; none, if the store keeps its word. */
  readonly lost: readonly string[]
  readonly damaged: number
  readonly events: readonly StoreEvent[]
}

/** Opens the store and reads back every body that was acknowledged. */
export async function check(folder: string, names: readonly string[]): Promise<Checked> {
  const events: StoreEvent[] = []
  const onEvent = (event: StoreEvent) => events.push(event)
  const store = await openSqliteStore({ folder, maxBytes: MAX_BYTES, onEvent })
  const lost: string[] = []
  for (const name of names) {
    const body = bodyOf(name)
    const result = await store.get({ tenant: 'a', ref: hash('sha256', body) })
    if (!result.ok || Buffer.compare(result.body, body) !== 0) lost.push(name)
  }
  let damaged = 0
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const result: Awaited<ReturnType<typeof store.verify>> = await store.verify(100, cursor)
    if (!result.ok) throw new Error(result.detail)
    damaged += result.damaged
    cursor = result.cursor
  }
  await store.close()
  return { lost, damaged, events }
}

/** Names of acknowledged bodies among what a writer said. */
export function acknowledged(lines: readonly string[]): string[] {
  return lines.filter(line => /^\w+:\d+$/.test(line))
}
