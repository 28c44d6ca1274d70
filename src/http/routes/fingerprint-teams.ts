import { AppError } from '../../core/base/errors.ts'
import { MEDIA_TYPES, type MediaType } from '../../core/contract/envelope.ts'
import { validate } from '../../core/contract/validate.ts'
import {
  memberName,
  teamDocument,
  teamName,
  uploadAnswer,
  uploadRequest,
  withdrawal,
} from '../../core/fingerprints/upload.ts'
import type { Teams } from '../../fingerprints/teams.ts'
import type { AppContext, AppDeps } from '../context.ts'
import { announcedLength, readBody } from '../request/body.ts'
import { answerMedia, essence, requestMedia } from '../request/media.ts'
import { requestHeader } from '../request/request-header.ts'
import { answerUnlessKnown, smallAnswer } from '../response/answers.ts'
import type { Route } from './route.ts'

const PATH = '/mcp/fingerprints/v1/teams/:team'
const MEMBER_PATH = `${PATH}/members/:member`
const PARQUET = 'application/vnd.apache.parquet'
/** Beyond the largest upload that can be kept. */
const MAX_UPLOAD_BYTES = 8 * 1024 * 1024
/**
 * The document changes with each upload, so a client asks each time whether its copy is current.
 */
const CACHE_CONTROL = 'private, no-cache'

/** What uploads need beside that. */
type UploadNeeds = TeamNeeds & Pick<AppDeps, 'maxBodyBytes'>

type TeamNeeds = Pick<AppDeps, 'admission' | 'fingerprints'>

export const FINGERPRINT_TEAM_ROUTES: readonly Route<TeamNeeds & UploadNeeds>[] = [
  {
    method: 'post',
    path: PATH,
    summary: "Share a member's endpoints with its team, in place of its earlier upload",
    scope: 'fingerprints:write',
    request: uploadRequest,
    answer: uploadAnswer,
    mount: (app, needs) => app.post(PATH, c => upload(c, needs)),
  },
  {
    method: 'get',
    path: PATH,
    summary: "A team's endpoints: the members' uploads together",
    scope: 'fingerprints:read',
    answer: teamDocument,
    file: PARQUET,
    mount: (app, needs) => app.get(PATH, c => read(c, needs)),
  },
  {
    method: 'delete',
    path: MEMBER_PATH,
    summary: "Withdraw a member's upload",
    scope: 'fingerprints:write',
    answer: withdrawal,
    mount: (app, needs) => app.delete(MEMBER_PATH, c => withdraw(c, needs)),
  },
]

async function upload(c: AppContext, needs: UploadNeeds): Promise<Response> {
  const state = c.get('state')
  const { caller } = state
  const team = teamOf(c)
  const media = uploadMedia(c)
  const maxBytes = Math.min(MAX_UPLOAD_BYTES, needs.maxBodyBytes)
  const announced = announcedLength(c, maxBytes)
  const ticket = needs.admission.enter(caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, maxBytes, ticket)
    state.bodyBytes = body.length
    const sent = { body, media }
    const answer = await teamsOf(needs).upload(caller.tenant, team, sent, caller.member)
    return smallAnswer(c, answer)
  } finally {
    ticket.leave()
  }
}

async function read(c: AppContext, needs: TeamNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const team = teamOf(c)
  const ticket = needs.admission.enter(caller, 0)
  try {
    const document = await teamsOf(needs).document(caller.tenant, team)
    const media = documentMedia(c)
    const type = media === 'parquet' ? PARQUET : MEDIA_TYPES[media]
    const tag = `${document.digest}-${media}`
    return answerUnlessKnown(c, ticket, { tag, cacheControl: CACHE_CONTROL }, () => {
      return { bytes: document[media], type }
    })
  } catch (error) {
    ticket.leave()
    throw error
  }
}

async function withdraw(c: AppContext, needs: TeamNeeds): Promise<Response> {
  const { caller } = c.get('state')
  const team = teamOf(c)
  const member = validate(memberName, c.req.param('member'))
  if (caller.member !== null && caller.member !== member) throw NO_UPLOAD
  const ticket = needs.admission.enter(caller, 0)
  try {
    await teamsOf(needs).withdraw(caller.tenant, team, member)
    return smallAnswer(c, { team, member, withdrawn: true })
  } finally {
    ticket.leave()
  }
}

function teamsOf({ fingerprints }: TeamNeeds): Teams {
  if (fingerprints !== undefined) return fingerprints.teams
  throw NO_TEAM
}

/**
 * The team of the path. If a key is limited to teams, all other teams are unknown to it, whether
 * they exist or not.
 */
function teamOf(c: AppContext): string {
  const team = validate(teamName, c.req.param('team'))
  const { teams } = c.get('state').caller
  if (teams !== null && !teams.has(team)) throw NO_TEAM
  return team
}

const NO_TEAM = new AppError('not_found', 'no such team is known')
const NO_UPLOAD = new AppError('not_found', 'no such upload is known')

function uploadMedia(c: AppContext): MediaType {
  if (essence(requestHeader(c, 'content-type') ?? '') !== PARQUET) return requestMedia(c)
  const types = Object.values(MEDIA_TYPES).join(' or ')
  throw new AppError(
    'unsupported_media_type',
    `Parquet is not read here: send ${types}, as haversack fingerprints push does`,
  )
}

/**
 * The media type with the highest weight. Of equals it is Parquet, which a client names only if it
 * wants it.
 */
function documentMedia(c: AppContext): MediaType | 'parquet' {
  const accept = requestHeader(c, 'accept') ?? ''
  const media = answerMedia(accept, 'json')
  const parquet = weightOf(accept, PARQUET)
  return parquet > 0 && parquet >= weightOf(accept, MEDIA_TYPES[media]) ? 'parquet' : media
}

/** The weight that `Accept` gives to a type by its name; 0 if it does not name it. */
function weightOf(accept: string, type: string): number {
  const range = accept.split(',').find(each => essence(each) === type)
  return range === undefined ? 0 : Number(/;\s*q=([\d.]+)/.exec(range)?.[1] ?? 1)
}
