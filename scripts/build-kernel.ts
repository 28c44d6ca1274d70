/**
 * Compiles the token counter's inner loop and writes it as a module: `node
 * scripts/build-kernel.ts`. The same source and the pinned compiler give the same bytes, which
 * `test/release/kernel.test.ts` checks.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'

const SOURCE = new URL('build-kernel/count-pieces.as', import.meta.url)
const TARGET = new URL('../src/core/tokens/kernel-bytes.ts', import.meta.url)

/** The module that `TARGET` should hold. Throws if the source does not compile. */
export async function buildKernel(): Promise<string> {
  const source = readFileSync(SOURCE, 'utf8')
  let binary: Uint8Array | undefined
  const { error, stderr } = await asc.main(
    ['kernel.ts', '-O3', '--runtime', 'stub', '--importMemory', '--noAssert', '-o', 'kernel.wasm'],
    {
      readFile: name => (name === 'kernel.ts' ? source : null),
      writeFile: (_name, contents) => {
        if (typeof contents !== 'string') binary = contents
      },
      listFiles: () => [],
    },
  )
  if (error !== null || binary === undefined) throw new Error(stderr.toString())
  return moduleOf(Buffer.from(binary).toString('base64'))
}

function moduleOf(base64: string): string {
  const lines = base64.match(/.{1,92}/g) ?? []
  return [
    '/** Written by `scripts/build-kernel.ts` from `build-kernel/count-pieces.as`; do not edit it. */',
    'export const KERNEL_BASE64 =',
    lines.map(line => `  '${line}'`).join(' +\n'),
    '',
  ].join('\n')
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  writeFileSync(fileURLToPath(TARGET), await buildKernel())
}
