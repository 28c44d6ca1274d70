import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

// A server over stdio that passes each byte on to the test, and each of the test's to its client.
const { values } = parseArgs({
  options: {
    /** Where the test listens. */
    port: { type: 'string', default: '' },
    /** Written to stderr at the start. */
    stderr: { type: 'string' },
    /** Ignores SIGTERM and the end of stdin. */
    stubborn: { type: 'boolean', default: false },
    /** Starts a process that holds the same pipes. */
    fork: { type: 'boolean', default: false },
    /** Whether this is that process. */
    forked: { type: 'boolean', default: false },
  },
})

const socket = connect({ port: Number(values.port), host: '127.0.0.1', allowHalfOpen: true })
socket.write(`${process.pid} ${values.forked ? 'forked' : 'server'}\n`)
// The test ends all by closing its side.
socket.on('error', () => process.exit()).on('close', () => process.exit())
if (values.stderr !== undefined) process.stderr.write(values.stderr)
if (values.stubborn || values.forked) process.on('SIGTERM', () => undefined)
if (values.forked) socket.resume()
else passOn()
if (values.fork) {
  const args = [fileURLToPath(import.meta.url), '--port', values.port, '--forked']
  spawn(process.execPath, args, { stdio: 'inherit' })
}

function passOn(): void {
  process.stdin.pipe(socket, { end: false })
  socket.pipe(process.stdout, { end: false })
  socket.on('end', () => closeSync(1))
  process.stdin.on('end', () => {
    if (!values.stubborn) socket.end(() => process.exit())
  })
}
