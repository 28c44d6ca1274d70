/** The `workerData` of a thread that `startThread` starts. */
export interface ThreadSetup {
  /** One cell of `protectThread`. */
  readonly protection: SharedArrayBuffer
  readonly data: unknown
}
