import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { anonymousName, anonymousServer } from '../../../../src/core/telemetry/anonymous-name.ts'
import { endpointClass } from '../../../../src/core/telemetry/endpoint-class.ts'

const six = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 6)

describe('the class of a shell command', () => {
  it.each([
    ['git log --oneline', 'git_log'],
    ['cd /srv/app && git -C sub --no-pager log -3', 'git_log'],
    ['git ls-files | head', 'git_ls_files'],
    ['git frobnicate', 'git'],
    ['git', 'git'],
    ['TOKEN=abc sudo -u me timeout -k 5 10 npm t', 'npm_test'],
    ['npm run test:unit -- x', 'npm_test'],
    ['npm run acme-deploy', 'npm_run'],
    ['npm run -s --if-present build:prod', 'npm_build'],
    ['npm run', 'npm_run'],
    ['yarn test:unit', 'yarn_test'],
    ['yarn lint', 'yarn_lint'],
    ['npx vitest run', 'vitest'],
    ['python3.12 -m pytest -x', 'pytest'],
    ['/usr/bin/python3 acme.py', 'python'],
    ['uv run pytest', 'pytest'],
    ["bash -lc 'cd a; cargo t'", 'cargo_test'],
    ['sh ./acme.sh', 'shell_script'],
    ['./acme-build --all', 'shell_script'],
    ['for f in *; do cat $f; done', 'shell_script'],
    ['acmectl get', 'shell_other'],
    ['curl -s https://acme.example', 'curl'],
    ['kubectl -n acme get pods', 'kubectl_get'],
    ['g++ a.cc', 'gpp'],
    ['# what is there\nls -la', 'ls'],
    ['(cd a && rg -n x)', 'rg'],
    ['"unfinished', 'shell_other'],
    ["'gi't status", 'git_status'],
    ['A=1', 'shell'],
    ['', 'shell'],
    ['sudo', 'shell'],
    ['bash -c "bash -c \'bash -c \\"bash -c ls\\"\'"', 'shell_script'],
  ])('%s', (command, expected) => {
    expect(endpointClass('Bash', { command })).toBe(expected)
  })

  it('reads the arguments of other agents', () => {
    expect(endpointClass('shell', { command: ['bash', '-lc', 'git status'] })).toBe('git_status')
    expect(endpointClass('exec_command', { cmd: 'ls' })).toBe('ls')
    expect(endpointClass('run_shell_command', { command: ['echo', "it's"] })).toBe('echo')
    for (const args of [undefined, null, 'git log', 3, {}, { command: 3 }]) {
      expect(endpointClass('Bash', args)).toBe('shell')
    }
  })

  it('takes time that grows with the command, up to what it reads', () => {
    for (const part of ['"', "'", '\\', 'A=1 ', 'sudo ', 'cd a;', '(', '#', '- ', '$((']) {
      expect(endpointClass('Bash', { command: part.repeat(500_000) })).toMatch(/^\w+$/)
    }
  })
})

describe('the anonymous name of a tool', () => {
  it('keeps names that agents bring along', () => {
    for (const tool of ['Read', 'WebFetch', 'apply_patch']) expect(anonymousName(tool)).toBe(tool)
    expect(anonymousName(undefined)).toBe('unknown')
    expect(anonymousName('')).toBe('unknown')
  })

  it("hashes an MCP server's name, and what is no common word", () => {
    const server = anonymousServer('acme gitlab')
    expect(server).toBe(`p${six('acme gitlab')}`)
    expect(anonymousName('mcp__acme gitlab__get_issues')).toBe(`mcp__${server}__get_issues`)
    expect(anonymousName('mcp__a__b__list_acme_pulls')).toBe(
      `mcp__p${six('a__b')}__list_x${six('acme')}_pulls`,
    )
    expect(anonymousName('getAcmeCorpOrders')).toBe(`get_x${six('acme_corp')}_orders`)
    expect(anonymousName('acme')).toBe(`x${six('acme')}`)
    expect(anonymousName('mcp__acme')).toBe(`x${six('mcp_acme')}`)
    expect(anonymousName('日本')).toBe(`x${six('日本')}`)
  })

  it('is never longer than what events may have', () => {
    expect(anonymousName('get_list_'.repeat(28))).toBe('get_list_get_list_get_list')
    expect(anonymousName('get_'.repeat(100))).toBe(`x${six('get_'.repeat(100))}`)
  })
})
