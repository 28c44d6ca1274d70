import { existsSync, lstatSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Env, processEnv } from '../../config/env.ts'
import { cacheFolder } from '../../config/user-folders.ts'
import { isAgreed } from '../../console/ask.ts'
import { defineCommand } from '../../console/command.ts'
import { hasBackup, restore } from '../../console/replace-file.ts'
import { EXIT } from '../../runtime/exit-codes.ts'
import {
  type Installation,
  installationFor,
  LAUNCHER_MARK,
  ownInstallation,
} from '../../runtime/installation.ts'
import { AGENTS } from '../setup/agents.ts'
import { isOurs } from '../setup/command.ts'

export const uninstallCommand = defineCommand({
  name: 'uninstall',
  outlivesReader: true,
  details:
    'First the files of agents are put back. If one of them was changed since, ' +
    'nothing is removed. What the service keeps stays, unless --data is given. ' +
    'The file that mcp import changed is put back by mcp import --undo FILE.',
  examples: ['uninstall', 'uninstall --data --yes'],
  operands: '',
  maxOperands: 0,
  options: {
    data: { type: 'boolean', help: 'Also remove what the service keeps for this user' },
    yes: { type: 'boolean', help: 'Do not ask' },
  },
  async run({ data, yes }) {
    const env = processEnv()
    const place = ownInstallation() ?? installationFor(env)
    const agents = setUpAgents(env)
    const paths = place === null ? [] : installedPaths(place, env, data)
    if (agents.length + paths.length === 0) {
      process.stderr.write('haversack: nothing is installed here for this user\n')
      return EXIT.ok
    }
    const lines = [
      ...agents.map(({ file }) => `put back  ${file}`),
      ...paths.map(p => `remove    ${p}`),
    ]
    process.stdout.write(`${lines.join('\n')}\n`)
    if (!yes && !(await isAgreed('Do this?'))) return EXIT.failed
    for (const { agent, file } of agents) {
      restore(file, (text, before) => isOurs(agent, text, before))
    }
    for (const path of paths) rmSync(path, { recursive: true, force: true })
    if (place !== null) removeEmpty(place.folder)
    const kept = place !== null && existsSync(place.folder) ? ` Kept: ${place.folder}` : ''
    process.stderr.write(`Haversack is uninstalled.${kept}\n`)
    return EXIT.ok
  },
})

/** The agents whose files `setup` has changed. */
function setUpAgents(env: Env) {
  return Object.values(AGENTS)
    .map(agent => ({ agent, file: agent.file(env) }))
    .filter(({ file }) => hasBackup(file))
}

/** What is there. A launcher of another program is not among it. */
function installedPaths({ launcher, folder }: Installation, env: Env, data: boolean): string[] {
  const parts = data
    ? [folder, cacheFolder(env)]
    : ['current', 'versions'].map(name => join(folder, name))
  return [...(isLauncher(launcher) ? [launcher] : []), ...parts.filter(isThere)]
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function isLauncher(file: string): boolean {
  try {
    return lstatSync(file).isFile() && readFileSync(file, 'utf8').includes(LAUNCHER_MARK)
  } catch {
    return false
  }
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // It has the user's data, or is gone.
  }
}
