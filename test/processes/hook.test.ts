import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))

function call(command: readonly string[], input: string | Buffer, args: readonly string[]) {
  return spawnSync(process.execPath, [CLI, ...command, ...args], {
    input,
    encoding: 'utf8',
    env: { ...process.env, HAVERSACK_URL: 'http://127.0.0.1:9', HAVERSACK_KEY: '' },
  })
}

describe.each([{ command: ['hook', 'claude'] }, { command: ['statusline'] }])(
  'haversack $command that fails',
  ({ command }) => {
    const event = JSON.stringify({
      hook_event_name: 'PostToolUse',
      session_id: 's1',
      tool_name: 'Bash',
      tool_response: { stdout: 'a text', stderr: '' },
    })

    it.each([
      ['without a service', event, []],
      ['with a URL that is none', event, ['--url', 'x']],
      ['with a key file that is not there', event, ['--key-file', '/no/such/file']],
      ['with no JSON', '{', []],
      ['with no text', Buffer.from([0xff, 0xfe]), []],
      ['with nothing', '', []],
    ])('%s prints nothing and ends with 0', (_case, input, args) => {
      const { status, stdout, stderr } = call(command, input, args)
      expect([status, stdout, stderr]).toEqual([0, '', ''])
    })
  },
)
