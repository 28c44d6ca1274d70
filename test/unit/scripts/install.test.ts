import { describe, expect, it } from 'vitest'
import { shellLauncher, windowsLauncher } from '../../../scripts/install/launchers.ts'
import { adviceForPath, isOnPath } from '../../../scripts/install/search-path.ts'
import { readCommand, writeCommand } from '../../../src/cli/setup/claude-settings.ts'
import { quoteForShell } from '../../../src/runtime/installation.ts'

describe('the line for the PATH', () => {
  it.each([
    ['/bin/zsh', 'linux', `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.zshrc`],
    ['/bin/bash', 'linux', `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.bashrc`],
    ['/bin/bash', 'darwin', `echo 'export PATH="$HOME/.local/bin:$PATH"' >> ~/.bash_profile`],
    ['/usr/bin/fish', 'linux', 'fish_add_path "$HOME/.local/bin"'],
    [undefined, 'linux', 'export PATH="$HOME/.local/bin:$PATH"'],
  ] as const)('for %s on %s', (SHELL, platform, line) => {
    expect(adviceForPath('/home/me/.local/bin', { HOME: '/home/me', SHELL }, platform)).toBe(line)
  })

  it('names a folder elsewhere, and that of Windows', () => {
    expect(adviceForPath('/opt/x', { HOME: '/home/me' }, 'linux')).toContain('"/opt/x:$PATH"')
    expect(adviceForPath('C:\\bin', {}, 'win32')).toContain(`+ ';C:\\bin', 'User')`)
  })

  it('is not needed for a folder that is on it', () => {
    expect(isOnPath('/home/me/.local/bin', { PATH: '/bin:/home/me/.local/bin/' })).toBe(true)
    expect(isOnPath('/home/me/.local/bin', { PATH: ':/bin' })).toBe(false)
  })
})

it('launchers quote their paths', () => {
  expect(shellLauncher("/it's")).toContain("current='/it'\\''s/current'")
  const node = { path: 'C:\\node.exe', isCopied: false }
  expect(windowsLauncher('C:\\100 %', node)).toMatch(
    /@"C:\\node\.exe" "C:\\100 %%[^"]+cli\.js" %\*/,
  )
})

describe('a written command', () => {
  it.each([
    'haversack',
    '/home/me/.local/bin/haversack',
    quoteForShell("/home/it's me/haversack", 'linux'),
    quoteForShell('C:\\a b\\haversack.cmd', 'win32'),
  ])('by %s is read back', program => {
    const command = { program, service: 'http://127.0.0.1:8787' }
    expect(readCommand(writeCommand(command, 'hook claude --url'), 'hook claude --url')).toEqual(
      command,
    )
  })

  it.each([
    'other hook claude --url http://x',
    'my-haversack hook claude --url http://x',
    'rm x; haversack hook claude --url http://x',
    'haversack hook claude',
    undefined,
    7,
  ])('of another program is none: %s', text => {
    expect(readCommand(text, 'hook claude --url')).toBeUndefined()
  })
})
