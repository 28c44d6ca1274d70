import { processEnv } from '../config/env.ts'
import { lookOf } from './paint.ts'

const WIDTH = 30

/** A progress bar on stderr; silent if stderr is not a terminal. */
export interface Progress {
  /** @param by default 1 */
  advance(by?: number): void
  done(): void
}

/** Draws at most once per percent, so that drawing does not slow down what it shows. */
export function createProgress(label: string, total: number, out = process.stderr): Progress {
  let count = 0
  let drawn = -1
  const [done, open] = lookOf(processEnv(), out).hasUnicode ? ['█', '░'] : ['#', '.']
  return {
    advance(by = 1) {
      // The count may exceed the total, because a file may have grown since.
      count = Math.min(count + by, total)
      const share = total === 0 ? 100 : Math.floor((100 * count) / total)
      if (!out.isTTY || share === drawn) return
      drawn = share
      const filled = Math.round((WIDTH * share) / 100)
      const bar = `${done.repeat(filled)}${open.repeat(WIDTH - filled)}`
      out.write(`\r${label} ${bar} ${Math.floor(count)}/${total}`)
    },
    done() {
      if (out.isTTY) out.write('\r\x1b[K')
    },
  }
}
