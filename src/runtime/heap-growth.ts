import { setFlagsFromString } from 'node:v8'

/** How much a heap may grow before all of it is collected again, in percent of what it holds. */
const GROWTH_PERCENT = 100

/**
 * Lets the heaps of this process double between two collections. A service allocates few objects
 * and many buffers, of each body once. V8 counts the buffers too, but derives the growth from the
 * few objects. With large bodies it would mark the whole heap every few requests.
 */
export function letHeapsDouble(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
}
