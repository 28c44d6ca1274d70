import { ServiceProblem } from '../../console/service-client.ts'
import { AppError } from '../../core/base/errors.ts'
import { sameMeaning } from '../../core/verify/same-meaning.ts'
import type { TranscriptLine } from '../../core/verify/transcript.ts'
import type { Finding, Retrievable, Verifier } from '../../core/verify/verify-transcript.ts'
import type { EncodeAnswer, EncodeRequest } from '../../index.ts'
import { type ResultRequest, requestOf } from '../play/result-encoder.ts'
import type { Player } from './player.ts'
import type { RecordedResult } from './read-results.ts'

/** The fields that every request of a replay has. */
export type CommonFields = Pick<
  EncodeRequest,
  'tokenizer' | 'model' | 'budget_tokens' | 'mode' | 'strategy'
>

/** The outcome of one result. */
export interface Played {
  readonly tool: string
  readonly text: string
  readonly answer: EncodeAnswer
  /**
   * Whether decoding the answer gives the very input. If parts are missing, whether retrieving its
   * marker does.
   */
  readonly restored: boolean
  /** Hints that the answer sent, and how many of them are not true or cannot be retrieved. */
  readonly hints: number
  readonly failedHints: number
  readonly findings: readonly Finding[]
}

/** The request for a recorded result, with the name that its session has at the player. */
export function requestAt(
  player: Pick<Player, 'nameOf'>,
  { session, ...result }: RecordedResult,
  common: CommonFields,
): ResultRequest {
  const own = session === undefined ? undefined : player.nameOf(session)
  return requestOf({ ...result, session: own }, common)
}

/**
 * Encodes one result, verifies the answer, decodes it and retrieves what it refers to.
 * @param write takes the entry for the transcript
 */
export async function play(
  result: RecordedResult,
  common: CommonFields,
  { player, verifier, write }: { player: Player; verifier: Verifier; write(entry: object): number },
): Promise<Played> {
  const { tool, text } = result
  const request = requestAt(player, result, common)
  const answer = await player.encode(request)
  const line = write({ request, answer })
  const entry: TranscriptLine['entry'] = { request, answer }
  const verified = verifier.check({ line, entry })
  const dead = await deadIds(verified.retrievable, player)
  return {
    tool,
    text,
    answer,
    restored: await isRestored(text, request.session, answer, player),
    hints: verified.hints,
    failedHints: Math.min(verified.hints, verified.failed + dead.length),
    findings: [...verified.findings, ...dead.map(id => toFinding(id, request.session))],
  }
}

/** Ids that do not return the text that they represent. */
async function deadIds(ids: readonly Retrievable[], player: Player): Promise<Retrievable[]> {
  const dead: Retrievable[] = []
  for (const each of ids) {
    if ((await player.retrieve(each.id, each.session)) !== each.content) dead.push(each)
  }
  return dead
}

function toFinding({ line, family, id }: Retrievable, session: string | undefined): Finding {
  return { line, session: session ?? null, family, reason: `${id} cannot be redeemed` }
}

async function isRestored(
  text: string,
  session: string | undefined,
  { content, format, elided }: EncodeAnswer,
  player: Player,
): Promise<boolean> {
  const [marker] = elided
  if (marker !== undefined) return (await player.retrieve(marker.hash)) === text
  try {
    return sameMeaning(text, await player.decode(content, format, session))
  } catch (error) {
    const isKnown = error instanceof AppError || error instanceof ServiceProblem
    if (isKnown && error.code === 'not_decodable') return false
    throw error
  }
}
