import { defineCommand, UsageError } from '../../console/command.ts'
import { readInput } from '../../console/input.ts'
import { createProgress } from '../../console/progress.ts'
import { type ServiceClient, serviceAt, serviceOptions } from '../../console/service-client.ts'
import { table } from '../../console/table.ts'
import { parseTranscript } from '../../core/verify/transcript.ts'
import {
  createVerifier,
  type Finding,
  type Imitation,
  type Retrievable,
} from '../../core/verify/verify-transcript.ts'
import { retrieveFrom } from '../../lab/replay/player.ts'
import { createLocalContext } from '../../library/local-context.ts'
import { EXIT } from '../../runtime/exit-codes.ts'

export const verifyCommand = defineCommand({
  name: 'verify',
  details:
    'FILE is a transcript as replay --transcript writes it: a line {"request", "answer"} for each call, ' +
    '{"event": "compaction"|"close", "session"} between them.',
  examples: ['verify transcript.jsonl'],
  operands: '[FILE]',
  maxOperands: 1,
  options: {
    ...serviceOptions,
    url: { ...serviceOptions.url, help: 'Also retrieve every id from this service' },
    json: { type: 'boolean', help: 'Print sums and findings as JSON' },
  },
  async run(values, [file]) {
    const url = values.url
    const service = url === undefined ? undefined : serviceAt(url, values)
    if (service === undefined && values.key !== undefined) {
      throw new UsageError('--key needs --url')
    }
    const lines = parseTranscript(await readInput(file))
    const verifier = createVerifier(createLocalContext().counters)
    const checked = lines.map(line => verifier.check(line))
    const findings: Finding[] = checked.flatMap(each => each.findings)
    const ids = checked.flatMap(each => each.retrievable)
    if (service !== undefined) {
      for (const item of await retrieveAll(ids, service)) findings.push(item)
    }
    const sums = {
      answers: lines.filter(({ entry }) => 'request' in entry && entry.answer !== null).length,
      hints: checked.reduce((sum, { hints }) => sum + hints, 0),
      redeemed: service === undefined ? null : ids.length,
      findings,
      look_alikes: checked.flatMap(({ imitations }) => imitations),
    }
    process.stdout.write(values.json ? `${JSON.stringify(sums)}\n` : toText(sums))
    return findings.length === 0 ? EXIT.ok : EXIT.failed
  },
})

interface VerifySums {
  readonly answers: number
  readonly hints: number
  /** `null` if no service was asked. */
  readonly redeemed: number | null
  readonly findings: readonly Finding[]
  readonly look_alikes: readonly Imitation[]
}

function toText({ answers, hints, redeemed, findings, look_alikes }: VerifySums): string {
  const imitated = look_alikes.map(({ line, session, text }) => {
    return [String(line), session ?? '–', JSON.stringify(text)]
  })
  const found = findings.map(({ line, session, family, reason }) => {
    return [String(line), session ?? '–', family, reason]
  })
  const sums = [
    counted(answers, 'answer'),
    counted(hints, 'hint'),
    ...(imitated.length === 0 ? [] : [`${counted(imitated.length, 'look-alike')} in content`]),
    ...(redeemed === null ? [] : [`${counted(redeemed, 'id')} asked for`]),
  ]
  return [
    ...(imitated.length === 0 ? [] : [table(['line', 'session', LOOKS_ALIKE], imitated), '']),
    ...(found.length === 0 ? [] : [table(['line', 'session', 'family', 'reason'], found), '']),
    `${sums.join(', ')}: ${found.length === 0 ? 'all true' : counted(found.length, 'finding')}.\n`,
  ].join('\n')
}

const LOOKS_ALIKE = 'content that looks like a hint'

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** Asks for each id, once for each session, and compares with what it must give. */
async function retrieveAll(
  ids: readonly Retrievable[],
  service: ServiceClient,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const known = new Map<string, string | null>()
  const progress = createProgress('redeem', ids.length)
  for (const { line, family, id, session, content } of ids) {
    const place = JSON.stringify([id, session])
    if (!known.has(place)) known.set(place, await retrieveFrom(service, id, session))
    progress.advance()
    const given = known.get(place) ?? null
    if (given === content) continue
    const reason = given === null ? `${id} cannot be redeemed` : `${id} gives another text`
    findings.push({ line, session: session ?? null, family, reason })
  }
  progress.done()
  return findings
}
