import { EXIT } from '../runtime/exit-codes.ts'

/** What a shell reports of a program that SIGPIPE ended, as it ends others whose reader left. */
const READER_LEFT = 141

let isWatched = false
let isOutlived = false

/**
 * Lets this process end quietly if the reader of its output has left, as `head` does.
 * @param outlives whether it has more to do than to print, and continues
 */
export function watchOutput(outlives: boolean): void {
  isOutlived = outlives
  if (isWatched) return
  isWatched = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (isOutlived) return
    if (error.code === 'EPIPE') process.exit(READER_LEFT)
    process.stderr.write(`haversack: the output cannot be written: ${error.code}\n`)
    process.exit(EXIT.failed)
  })
  // What it would tell has no reader.
  process.stderr.on('error', () => undefined)
}
