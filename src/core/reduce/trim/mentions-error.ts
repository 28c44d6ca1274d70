/**
 * Words that a line about an error has (seed 003, "Head+Tail"), and what begins a Python traceback.
 */
const ERROR = /\b(?:error|fatal|panic|panicked|critical)\b|exception|^traceback /i

/** Whether a text reports an error. Linear: no part of the pattern repeats. */
export function mentionsError(text: string): boolean {
  return ERROR.test(text)
}
