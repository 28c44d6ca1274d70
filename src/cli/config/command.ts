import { constants, copyFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { processEnv } from '../../config/env.ts'
import {
  type ExplainedKey,
  explainCall,
  explainLayers,
  type PlacedValue,
  writeValue,
} from '../../config/layers/explain-layers.ts'
import { migrateFile } from '../../config/layers/migrate-file.ts'
import { layersInProject } from '../../config/layers/project-file.ts'
import { readLayers } from '../../config/layers/read-layers.ts'
import { loadConfig } from '../../config/load.ts'
import { ConfigError } from '../../config/read-toml.ts'
import { defineActions, type Options, UsageError, type ValuesOf } from '../../console/command.ts'
import { jsonOption } from '../../console/options.ts'
import { alignColumns } from '../../console/table.ts'
import { LOCAL_TENANT } from '../../core/base/tenant-name.ts'
import { readPlainText } from '../../files/read-plain-file.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

const options = {
  model: { type: 'string', value: 'ID', help: 'What applies to this model', actions: ['show'] },
  tool: {
    type: 'string',
    value: 'NAME',
    help: "What applies to this tool's results",
    actions: ['show'],
  },
  args: {
    type: 'string',
    value: 'JSON',
    help: "The call's arguments: they tell the class of a shell's command",
    actions: ['show'],
  },
  tenant: {
    type: 'string',
    value: 'NAME',
    help: `Whose files are read (default ${LOCAL_TENANT})`,
    actions: ['show'],
  },
  project: {
    type: 'string',
    value: 'FILE',
    help: "The project's file (default: looked for upward, to the repository's root)",
    actions: ['show'],
  },
  write: { type: 'boolean', help: 'Write FILE, with a copy beside it', actions: ['migrate'] },
  'keep-defaults': {
    type: 'boolean',
    help: "Keep values that the predecessor's file has by default",
    actions: ['migrate'],
  },
  ...jsonOption,
} as const satisfies Options

type ConfigValues = ValuesOf<typeof options>

export const configCommand = defineActions({
  name: 'config',
  details:
    'Each key with its value in force, the layer, file and line that say it, and the values that ' +
    'it takes precedence over. Keys that `tune` wrote have their rule, evidence and date. ' +
    '`migrate` prints a file of the predecessor as this version writes it, and reports each line.',
  examples: [
    'config show',
    `config show --tool Bash --args '{"command":"git log"}'`,
    'config show --tenant acme --json',
    'config migrate pipeline_config.toml',
  ],
  options,
  actions: {
    show: { operands: { text: '', min: 0, max: 0 }, run: show },
    migrate: {
      operands: { text: 'FILE', min: 1, max: 1 },
      run: ({ write, 'keep-defaults': keepsDefaults }, [file = '']) =>
        migrateConfig(file, { writes: write, keepsDefaults }),
    },
  },
})

function show(values: ConfigValues): number {
  const { tenant = LOCAL_TENANT, project, tool, model } = values
  const { data_dir, pipeline_config_file } = loadConfig({ env: processEnv(), insecure: true })
  const inProject = layersInProject({ data_dir, pipeline_config_file }, process.cwd())
  const layered = readLayers(
    { ...inProject, ...(project !== undefined && { project }) },
    { tenant },
  )
  const args = argsOf(values)
  const isOfCall = [tool, model, args].some(given => given !== undefined)
  const keys = isOfCall ? explainCall(layered, { tool, model, args }) : explainLayers(layered)
  const { generation, warnings, tunedFaults } = layered
  for (const line of [...tunedFaults, ...warnings]) process.stderr.write(`${line}\n`)
  const text = values.json
    ? JSON.stringify({ generation, keys })
    : [`generation ${generation}`, '', ...explanationLines(keys)].join('\n')
  process.stdout.write(`${text}\n`)
  return EXIT.ok
}

function argsOf({ args }: ConfigValues): unknown {
  if (args === undefined) return undefined
  try {
    return JSON.parse(args)
  } catch {
    throw new UsageError('--args takes JSON')
  }
}

/** A line for each key, and one below it for each value that it takes precedence over. */
export function explanationLines(keys: readonly ExplainedKey[]): readonly string[] {
  const rows = keys.flatMap(({ key, from = key, losing, ...inForce }) => [
    [`${key} = ${writeValue(inForce.value)}`, placeOf({ ...inForce, key: from }, key)],
    ...losing.map(value => [`  not ${writeValue(value.value)}`, placeOf(value, key)]),
  ])
  return alignColumns(rows)
}

/** The layer, file and line, and the key if that is another one. */
function placeOf({ layer, key, file, line, tuned }: PlacedValue, row: string): string {
  const other = key === row ? '' : ` ${key}`
  const place = file === undefined ? '' : ` ${file}:${line}`
  const why = tuned === undefined ? '' : ` (${tuned.rule}, ${tuned.date}: ${tuned.evidence})`
  return `${layer}${other}${place}${why}`
}

interface MigrateOptions {
  readonly writes: boolean
  readonly keepsDefaults: boolean
}

/** Reports what becomes of each line, and writes the file if that is asked for. */
export function migrateConfig(file: string, { writes, keepsDefaults }: MigrateOptions): number {
  const { text, keys, warnings } = migrateFile(file, read(file), { keepsDefaults })
  const rows = keys.map(({ line, key, fate }) => [`${file}:${line}`, key, fate])
  process.stderr.write(`${[...alignColumns(rows), ...warnings].join('\n')}\n`)
  if (!writes) {
    process.stdout.write(text)
    return EXIT.ok
  }
  const backup = backUp(file)
  replace(file, text)
  process.stderr.write(`haversack: ${file} is written; ${backup} is what it was\n`)
  return EXIT.ok
}

function read(file: string): string {
  try {
    return readPlainText(file)
  } catch {
    throw new ConfigError([`${file}: cannot be read`])
  }
}

/** A copy beside the file. An earlier one is never overwritten. */
function backUp(file: string): string {
  for (let number = 0; ; number++) {
    const backup = number === 0 ? `${file}.before` : `${file}.before.${number}`
    try {
      copyFileSync(file, backup, constants.COPYFILE_EXCL)
      return backup
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** In one step, so that no reader sees half of it. */
function replace(file: string, text: string): void {
  const next = `${file}.${process.pid}.tmp`
  try {
    writeFileSync(next, text, { flag: 'wx' })
    renameSync(next, file)
  } catch (error) {
    rmSync(next, { force: true })
    throw error
  }
}
