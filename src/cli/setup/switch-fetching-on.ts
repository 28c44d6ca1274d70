import type { Env } from '../../config/env.ts'
import { withHome } from '../../config/user-folders.ts'
import { isAgreed } from '../../console/ask.ts'
import { UsageError } from '../../console/command.ts'
import { readConfigFile, replaceFile } from '../../console/replace-file.ts'
import { editTomlTable } from './edit-toml.ts'
import { lineDiff } from './line-diff.ts'

interface Answers {
  readonly redeem?: boolean | undefined
  readonly yes?: boolean | undefined
  readonly print?: boolean | undefined
}

const QUESTION = 'May old and large results lose parts, which the proxy fetches if the model asks?'

/** The file of the service's own configuration; `null` if none is named. @throws UsageError */
export function serviceFile({ redeem }: Answers, env: Env): string | null {
  const named = env['HAVERSACK_CONFIG']
  if (named) return withHome(named)
  if (!redeem) return null
  throw new UsageError('--redeem changes the file that HAVERSACK_CONFIG names: name one')
}

/** Sets `proxy.redeem = "auto"` there, if that is asked for or agreed to. */
export async function switchFetchingOn(
  file: string,
  { redeem, yes, print }: Answers,
  { isTerminal = process.stdin.isTTY, ask = isAgreed } = {},
): Promise<void> {
  if (!redeem && (!isTerminal || yes || print)) return
  const before = readConfigFile(file)
  const after = editTomlTable(before ?? '', ['proxy', 'redeem'], 'auto')
  if (after === before) return
  process.stdout.write(`${file}${before === null ? ' (new)' : ''}\n`)
  process.stdout.write(`${lineDiff(before ?? '', after)}\n`)
  if (print || (!yes && !(await ask(QUESTION)))) return
  replaceFile(file, before, after)
  process.stderr.write('Written. A service that runs reads it after a restart or SIGHUP.\n')
}
