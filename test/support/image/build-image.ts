import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { copyInto } from './copy-into.ts'
import { contextFilter } from './dockerignore.ts'
import {
  type Dockerfile,
  execForm,
  expand,
  type Instruction,
  pairs,
  parseDockerfile,
  type Stage,
} from './parse-dockerfile.ts'
import { copyRoot, createRoot } from './root-folder.ts'
import { runShell, type Surroundings } from './run-in-image.ts'

/** A built stage: the folder that stands for its root, and what its metadata would be. */
export interface Image extends Surroundings {
  readonly entrypoint: readonly string[] | undefined
  readonly cmd: readonly string[] | undefined
  readonly healthcheck: readonly string[] | undefined
  readonly exposed: readonly string[]
  readonly volumes: readonly string[]
  readonly labels: Readonly<Record<string, string>>
}

type Draft = { -readonly [Key in keyof Image]: Image[Key] }

/**
 * Runs the steps of a Dockerfile in empty folders, one a stage, without a container engine: RUN by
 * the shell of this machine with absolute paths rewritten below the stage's folder. What it cannot
 * show is the base image: its system libraries and its own Node.
 * @param context folder with the Dockerfile, its .dockerignore, and what it copies
 * @param folder where the stages are built
 * @returns the last stage
 */
export function buildImage(context: string, folder: string): Image {
  const dockerfile = parseDockerfile(readFileSync(join(context, 'Dockerfile'), 'utf8'))
  const allows = contextFilter(readFileSync(join(context, '.dockerignore'), 'utf8'))
  const built = new Map<string, Image>()
  let last: Image | undefined
  for (const [index, stage] of dockerfile.stages.entries()) {
    const name = stage.name ?? String(index)
    const draft = startStage(stage, join(folder, name), dockerfile, built)
    const variables: Record<string, string> = {}
    for (const instruction of stage.instructions) {
      apply(draft, instruction, { variables, context, allows, built })
    }
    built.set(name, draft)
    last = draft
  }
  if (last === undefined) throw new Error('the Dockerfile has no stage')
  return last
}

function startStage(
  { from }: Stage,
  root: string,
  { args }: Dockerfile,
  built: ReadonlyMap<string, Image>,
): Draft {
  const earlier = built.get(from)
  if (earlier !== undefined) {
    copyRoot(earlier.root, root)
    return { ...earlier, root }
  }
  if (!Object.values(args).includes(from)) {
    throw new Error(`FROM ${from}: neither a stage nor a base image that an ARG names`)
  }
  createRoot(root)
  const metadata = { entrypoint: undefined, cmd: undefined, healthcheck: undefined }
  return {
    root,
    workdir: '/',
    env: {},
    user: '',
    exposed: [],
    volumes: [],
    labels: {},
    ...metadata,
  }
}

interface BuildState {
  /** ARGs of the stage. */
  readonly variables: Record<string, string>
  readonly context: string
  readonly allows: (path: string) => boolean
  readonly built: ReadonlyMap<string, Image>
}

function apply(draft: Draft, { name, flags, text }: Instruction, state: BuildState): void {
  const { variables } = state
  const expanded = expand(text, { ...variables, ...draft.env })
  switch (name) {
    case 'ARG':
      Object.assign(variables, Object.fromEntries(pairs(expanded)))
      break
    case 'ENV':
      draft.env = { ...draft.env, ...Object.fromEntries(pairs(expanded)) }
      break
    case 'LABEL':
      draft.labels = { ...draft.labels, ...Object.fromEntries(pairs(expanded)) }
      break
    case 'WORKDIR':
      draft.workdir = resolve(draft.workdir, expanded)
      mkdirSync(join(draft.root, draft.workdir), { recursive: true })
      break
    case 'USER':
      draft.user = expanded
      break
    case 'EXPOSE':
      draft.exposed = [...draft.exposed, ...expanded.split(/\s+/)]
      break
    case 'VOLUME':
      draft.volumes = [...draft.volumes, ...expanded.split(/\s+/)]
      break
    case 'RUN':
      runShell({ ...draft, env: { ...variables, ...draft.env } }, text)
      break
    case 'COPY':
      copy(draft, expanded, flags, state)
      break
    case 'HEALTHCHECK':
      draft.healthcheck = execForm(text.replace(/^CMD\s+/, ''))
      break
    case 'ENTRYPOINT':
      draft.entrypoint = execForm(text)
      break
    case 'CMD':
      draft.cmd = execForm(text)
      break
    default:
      throw new Error(`${name} is not built`)
  }
}

function copy(
  draft: Draft,
  text: string,
  flags: Instruction['flags'],
  { context, allows, built }: BuildState,
): void {
  const words = text.split(/\s+/)
  const target = words.at(-1) ?? ''
  const path = join(draft.root, resolve(draft.workdir, target))
  const to = target.endsWith('/') ? `${path}/` : path
  const { from, chown } = flags
  const sources = words.slice(0, -1)
  if (from === undefined) copyInto({ from: resolve(context), sources, target: to, chown, allows })
  else copyInto({ from: rootOf(built, from), sources, target: to, chown })
}

function rootOf(built: ReadonlyMap<string, Image>, name: string): string {
  const image = built.get(name)
  if (image === undefined) throw new Error(`COPY --from=${name}: there is no such stage before it`)
  return image.root
}
