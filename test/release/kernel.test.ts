import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { buildKernel } from '../../scripts/build-kernel.ts'

it('the kernel of the tokenizer is what its source compiles to', async () => {
  const file = new URL('../../src/core/tokens/kernel-bytes.ts', import.meta.url)
  expect(await buildKernel()).toBe(readFileSync(file, 'utf8'))
})
