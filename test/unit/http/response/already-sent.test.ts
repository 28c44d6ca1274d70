import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { expect, it, onTestFinished, vi } from 'vitest'
import { alreadySent } from '../../../../src/http/response/already-sent.ts'

it('a response made once the adapter runs is known to it, and not sent again', async () => {
  const error = vi.fn()
  vi.stubGlobal('console', { ...console, error })
  const listener = getRequestListener(async (_, { outgoing }) => {
    await new Promise<void>(resolve => outgoing.end('ours', resolve))
    return alreadySent()
  })
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing))
  onTestFinished(() => {
    server.close()
    vi.unstubAllGlobals()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  for (let n = 0; n < 2; n++) expect(await (await fetch(url)).text()).toBe('ours')
  expect(error).not.toHaveBeenCalled()
})
