import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'

const root = fileURLToPath(new URL('../../', import.meta.url))
const FILE = 'k8s/components/monitoring/dashboard.json'
const SETTINGS = ['--ignoreConfig', '--noEmit', '--skipLibCheck', '--strict', '--types', '']

/** What the compiler says of a dashboard that is declared as one of Grafana's. */
function faultsOf(dashboard: string): string {
  const cache = join(root, 'node_modules/.cache')
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'haversack-dashboard-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'dashboard.ts')
  const type = "import type { Dashboard } from '@grafana/schema'"
  writeFileSync(file, `${type}\nexport const dashboard: Dashboard = ${dashboard}\n`)
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const args = [tsc, ...SETTINGS, '--module', 'nodenext', '--target', 'esnext', file]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  return stdout + stderr
}

it('the dashboard is one by the types of Grafana', () => {
  expect(faultsOf(readFileSync(join(root, FILE), 'utf8'))).toBe('')
})

it('a field of another type or another name is found', () => {
  const dashboard = JSON.parse(readFileSync(join(root, FILE), 'utf8'))
  expect(faultsOf(JSON.stringify({ ...dashboard, refresh: 30 }))).toContain('not assignable')
  expect(faultsOf(JSON.stringify({ ...dashboard, panel: [] }))).toContain('"panel"')
})
