import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it, onTestFinished } from 'vitest'
import { json, legacyServer, result, startHttpUpstream } from '../../support/mcp/http-upstream.ts'

const SCRIPT = new URL('worker-descriptors.ts', import.meta.url).pathname

it('servers fail while there is no file descriptor, and are there again with one', async () => {
  const upstream = await startHttpUpstream(
    legacyServer((response, { id }) => json(response, result(id, '{}'))),
  )
  onTestFinished(() => upstream.close())
  const limited = `ulimit -n 120; exec "$0" "$@"`
  const { stdout } = await promisify(execFile)('sh', [
    ...['-c', limited, process.execPath, SCRIPT, upstream.url],
  ])
  expect(JSON.parse(stdout)).toEqual({
    without: ['down', 'down'],
    later: ['answered', 'answered'],
  })
})
