import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { reasonOf, reasonOfFile } from '../../../src/runtime/system-reason.ts'

/** What listening there fails with. */
async function refusedAt(address: string, port: number): Promise<unknown> {
  const server = createServer()
  const { promise, resolve } = Promise.withResolvers<unknown>()
  server.once('error', resolve).once('listening', () => server.close(resolve))
  server.listen(port, address)
  return promise
}

it('says what the operating system refuses in a sentence of ours', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-reason-'))
  const missing = join(folder, 'a', 'b')
  let error: unknown
  try {
    openSync(missing, 'r')
  } catch (thrown) {
    error = thrown
  }
  expect(reasonOf(error)).toBe(`${missing} does not exist`)
  rmSync(folder, { recursive: true })

  const taken = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => taken.once('listening', resolve))
  const { port } = taken.address() as { readonly port: number }
  expect(reasonOf(await refusedAt('127.0.0.1', port))).toBe(
    `something listens at 127.0.0.1:${port} already: end it, or give another --port`,
  )
  taken.close()
  expect(reasonOf(await refusedAt('192.0.2.1', 0))).toBe('192.0.2.1 is no address of this machine')
})

it('leaves other messages as they are', () => {
  expect(reasonOf(new Error('a reason'))).toBe('a reason')
  expect(reasonOf('text')).toBe('text')
  expect(reasonOf(Object.assign(new Error('m'), { code: 'EFBIG', path: '/a' }))).toBe('m')
  expect(reasonOfFile('constructor')).toBeUndefined()
})
