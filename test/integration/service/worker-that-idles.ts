/** A worker that loads nothing, for tests in which no job runs. */
export function runBatch(): never {
  throw new Error('no job was expected')
}
