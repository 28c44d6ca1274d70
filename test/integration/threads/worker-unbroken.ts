import { unbroken } from '../../../src/core/base/unbroken.ts'
import { ownThread } from '../../../src/threads/own-thread.ts'

/** A thread that works as it is told: `inside` until a cell is set, `outside`, or until it exits. */
const { port, data } = ownThread<{ readonly way: string; readonly shared: SharedArrayBuffer }>()
const cells = new Int32Array(data.shared)

const WAYS: Readonly<Record<string, () => void>> = {
  inside: () =>
    unbroken(() => {
      port.postMessage('begun')
      Atomics.wait(cells, 0, 0)
      Atomics.store(cells, 1, 1)
    }),
  outside() {
    port.postMessage('begun')
    for (;;);
  },
  lost: () => unbroken(() => process.exit()),
}
WAYS[data.way]?.()
