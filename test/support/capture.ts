import { runCli } from '../../src/cli/run-cli.ts'
import { useBundledWorkers } from './bundled-worker.ts'

useBundledWorkers()

/** What a call of the command line printed, and its exit code. */
export interface Printed {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command line in this process with both streams captured. */
export async function captureCli(...argv: string[]): Promise<Printed> {
  const streams = { stdout: '', stderr: '' }
  const restore = (['stdout', 'stderr'] as const).map(name => {
    const stream = process[name]
    const write = stream.write
    stream.write = ((chunk: string | Uint8Array) => {
      streams[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()
      return true
    }) as typeof stream.write
    return () => {
      stream.write = write
    }
  })
  try {
    return { code: await runCli(argv), ...streams }
  } finally {
    for (const undo of restore) undo()
  }
}
