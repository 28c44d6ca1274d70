/** Shared memory of a pool and its threads, by the index of a batch that is under way. */
export interface ThreadMarks {
  /** The index of the job that a thread is at. */
  readonly marks: Int32Array
  /** The cells of `protectThread`. */
  readonly protections: Int32Array
}

/** Memory for so many batches. */
export function createMarks(batches: number): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * batches * Int32Array.BYTES_PER_ELEMENT)
}

/** @param shared as `createMarks` returned it */
export function readMarks(shared: SharedArrayBuffer): ThreadMarks {
  const half = shared.byteLength / 2
  const length = half / Int32Array.BYTES_PER_ELEMENT
  return {
    marks: new Int32Array(shared, 0, length),
    protections: new Int32Array(shared, half, length),
  }
}
