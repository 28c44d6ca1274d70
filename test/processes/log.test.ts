import { mkdtempSync, openSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { keyFor, writeKeysFile } from '../support/keys.ts'
import { countRequest, dial, exchange, request } from '../support/raw-http.ts'
import { killProcesses, type LogLine, startProcess } from '../support/service-process.ts'

const folder = mkdtempSync(join(tmpdir(), 'haversack-log-'))
const acme = keyFor('acme')
const AUTH = `authorization: Bearer ${acme.key}`
const SECRET = 'SECRETCONTENT'

afterEach(killProcesses)
afterAll(() => rmSync(folder, { recursive: true }))

/** The fields of a line that say what kind of request it was. */
const kind = ({ route, status, code }: LogLine) => [route, status, code]

describe('the log of a process', () => {
  it('has a line for each request, and nothing that a client sent', async () => {
    const keys = join(folder, 'keys.json')
    writeKeysFile(keys, acme)
    const env = { HAVERSACK_KEYS_FILE: keys, HAVERSACK_MAX_BODY_BYTES: '100000' }
    const service = await startProcess({ env })
    const head = ['POST /v1/count HTTP/1.1', 'host: localhost', 'content-type: application/json']
    const ask = async (bytes: string | Buffer) =>
      (await exchange(service.url, bytes)).answers[0]?.status

    expect(await ask(countRequest(SECRET, AUTH, 'x-request-id: good-1'))).toBe(200)
    const key = `x-api-key: ${SECRET}`
    expect(await ask(countRequest(SECRET, key))).toBe(401)
    const body = `{"${SECRET}":"${SECRET}"}`
    expect(await ask(request([...head, AUTH, `content-length: ${body.length}`], body))).toBe(400)
    expect(await ask(request([...head, AUTH, 'content-length: 100001']))).toBe(413)
    expect(
      await ask(
        request([`GET /${SECRET.repeat(500)}?${SECRET} HTTP/1.1`, 'host: localhost', AUTH]),
      ),
    ).toBe(404)
    // Ids that would break a line, or are too long, are replaced; line ends are no header at all.
    const fake = '{"level":60,"msg":"fake"}'
    for (const id of [fake, `${SECRET}\t${SECRET}`, SECRET.repeat(20), `${SECRET}\xe9`]) {
      const bytes = Buffer.from(countRequest('a', AUTH, `x-request-id: ${id}`), 'latin1')
      expect(await ask(bytes)).toBe(200)
    }
    expect(await ask(countRequest('a', AUTH, `x-request-id: x\n${fake}`))).toBe(400)
    expect(await ask(request(['GET /livez HTTP/1.1', 'host: localhost']))).toBe(200)

    const half = dial(service.url)
    half.write(request([...head, AUTH, 'content-length: 50'], `{"content":"${SECRET}`))
    half.end()
    half.on('error', () => {})
    await eventually(() => expect(service.log()).toHaveLength(11))
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)

    const lines = service.log()
    expect(lines.map(kind)).toEqual([
      ['/v1/count', 200, undefined],
      ['/v1/count', 401, 'unauthorized'],
      ['/v1/count', 400, 'invalid_request'],
      ['/v1/count', 413, 'payload_too_large'],
      ['none', 404, 'not_found'],
      ...Array(4).fill(['/v1/count', 200, undefined]),
      // What the parser refuses has no route.
      [undefined, 400, undefined],
      ['/v1/count', 400, 'invalid_request'],
    ])
    expect(service.stderr()).not.toContain(SECRET)
    expect(service.stderr()).not.toContain('fake')
    expect(service.stderr()).not.toContain(acme.key.slice(4))
    expect(service.stderr()).not.toContain(acme.record.sha256)
    expect(Object.keys(lines[0] ?? {}).sort()).toEqual(
      [
        ...['level', 'time', 'pid', 'hostname', 'name', 'msg', 'id', 'tenant', 'key', 'method'],
        ...['route', 'status', 'bytes_in', 'bytes_out', 'queue_ms', 'work_ms', 'total_ms'],
      ].sort(),
    )
    expect(lines[0]).toMatchObject({
      level: 30,
      name: 'haversack',
      msg: 'request',
      id: 'good-1',
      tenant: 'acme',
      key: acme.record.id,
      method: 'POST',
      bytes_in: countRequest(SECRET).split('\r\n\r\n')[1]?.length,
    })
    expect(lines[1]).toMatchObject({ tenant: '', key: '', bytes_in: 0 })
    for (const { id, route } of lines) {
      if (route !== undefined) expect(id).toMatch(/^[\w.:-]{1,128}$/)
    }
    expect(new Set(lines.map(({ id }) => id)).size).toBe(lines.length)
  })

  it('whose reader is gone does not end the service', async () => {
    const service = await startProcess()
    service.child.stderr?.destroy()
    // More than is written together, so that it was written to nobody.
    for (let i = 0; i < 30; i++) {
      const { answers } = await exchange(service.url, countRequest('a b').repeat(10), 10)
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    }
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
  })

  it('whose disk is full does not end the service', async () => {
    const service = await startProcess({ stderr: openSync('/dev/full', 'w') })
    for (let i = 0; i < 30; i++) {
      const { answers } = await exchange(service.url, countRequest('a b').repeat(10), 10)
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200))
    }
    service.child.kill('SIGTERM')
    expect(await service.exited).toBe(0)
  })
})
