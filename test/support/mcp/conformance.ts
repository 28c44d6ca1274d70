import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

const PACKAGE = new URL('.', import.meta.resolve('@modelcontextprotocol/conformance/package.json'))
const COMMAND = fileURLToPath(new URL('dist/index.js', PACKAGE))

/** The revisions whose requirements are frozen. */
export type Revision = '2025-11-25' | '2026-07-28'

export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  /** Why it did not succeed. */
  readonly errorMessage?: string
}

export interface ScenarioResult {
  readonly scenario: string
  /** Whether a server must pass it to conform to the revision. */
  readonly required: boolean
  /** Whether no check failed, and at least one succeeded. */
  readonly passed: boolean
  readonly checks: readonly Check[]
}

/**
 * Runs the scenarios that a revision names for servers against a URL, one after the other, also
 * those that are not scored. Returns their results in the order of the revision's list. A scenario
 * that broke off or ran out of time has no checks. Throws if no scenario ran.
 *
 * @param url Of the fixture, or of a gateway in front of it: a local one, for the check of `Host`.
 */
export async function runConformance(url: string, revision: Revision): Promise<ScenarioResult[]> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-conformance-'))
  try {
    const args = ['server', '--url', url, '--requirements', revision, '--output-dir', folder]
    const child = spawn(process.execPath, [COMMAND, ...args], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', chunk => {
      stderr += chunk
    })
    await once(child, 'close')
    const results = readResults(folder)
    if (results.size === 0) throw new Error(`no scenario has a result: ${stderr}`)
    return scenariosOf(revision).map(({ scenario, required }) => {
      const checks = results.get(scenario) ?? []
      return { scenario, required, passed: hasPassed(checks), checks }
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The checks that succeeded, and those that did not and could have: of required scenarios. */
export function countChecks(results: readonly ScenarioResult[]) {
  const statuses = results
    .filter(({ required }) => required)
    .flatMap(({ checks }) => checks.map(({ status }) => status))
  return {
    succeeded: statuses.filter(status => status === 'SUCCESS').length,
    failed: statuses.filter(status => status === 'FAILURE' || status === 'WARNING').length,
  }
}

function hasPassed(checks: readonly Check[]): boolean {
  const statuses = checks.map(({ status }) => status)
  return statuses.includes('SUCCESS') && !statuses.includes('FAILURE')
}

const DRIVER = fileURLToPath(new URL('./conformance-client/driver.ts', import.meta.url))

/**
 * Runs one scenario for clients: the suite's server behind `haversack mcp`, which a driver calls.
 * @returns the checks that did not succeed; `null` if the driver failed or nothing was checked
 */
export async function runClientScenario(
  scenario: string,
  revision: Revision,
): Promise<readonly Check[] | null> {
  const folder = mkdtempSync(join(tmpdir(), 'haversack-conformance-'))
  try {
    const options = {
      command: `${process.execPath} ${DRIVER}`,
      'output-dir': folder,
      timeout: 280_000,
    }
    const args = Object.entries({ scenario, 'spec-version': revision, ...options })
    const child = spawn(
      process.execPath,
      [COMMAND, 'client', ...args.flatMap(([name, value]) => [`--${name}`, String(value)])],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    )
    const [code] = await once(child, 'close')
    const file = readdirSync(folder, { recursive: true }).find(name =>
      String(name).endsWith('checks.json'),
    )
    if (file === undefined) return null
    const checks = JSON.parse(readFileSync(join(folder, String(file)), 'utf8')) as Check[]
    const failed = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING')
    return failed.length === 0 && (code !== 0 || checks.length === 0) ? null : failed
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What a revision requires of clients. */
export function clientScenarios(revision: Revision): readonly string[] {
  return requirementsOf(revision).client
}

interface Requirements {
  readonly client: readonly string[]
  readonly server: readonly string[]
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[]
}

function scenariosOf(revision: Revision): { scenario: string; required: boolean }[] {
  const requirements = requirementsOf(revision)
  return [
    ...requirements.server.map(scenario => ({ scenario, required: true })),
    ...requirements.not_scored
      .filter(({ leg }) => leg === 'server')
      .map(({ scenario }) => ({ scenario, required: false })),
  ]
}

function requirementsOf(revision: Revision): Requirements {
  const file = new URL(`requirements/${revision}.yaml`, PACKAGE)
  return parse(readFileSync(file, 'utf8')) as Requirements
}

/** Reads `server-<scenario>-<time>/checks.json` of each scenario. */
function readResults(folder: string): Map<string, Check[]> {
  const results = new Map<string, Check[]>()
  for (const name of readdirSync(folder)) {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1]
    const file = join(folder, name, 'checks.json')
    if (scenario === undefined || !existsSync(file)) continue
    results.set(scenario, JSON.parse(readFileSync(file, 'utf8')))
  }
  return results
}
