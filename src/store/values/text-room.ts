import { AppError } from '../../core/base/errors.ts'

/** Claims room for the bytes of a text. @throws AppError if there is none */
export type Claim = (bytes: number) => void

/** Bytes of the texts that one request brings from the store, at most. */
const MAX_TEXT_BYTES = 4 * 1024 * 1024

/** The room that the texts of one request may take. */
export interface Room {
  /** Whether there is room for a text. */
  take(bytes: number): boolean
}

export function createRoom(claim: Claim): Room {
  let left = MAX_TEXT_BYTES
  return {
    take(bytes) {
      if (bytes > left) return false
      try {
        claim(bytes)
        left -= bytes
        return true
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        left = 0
        return false
      }
    },
  }
}
