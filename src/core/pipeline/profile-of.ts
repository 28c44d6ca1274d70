import { type Profile, resolveProfile } from './profile/resolve.ts'
import type { ProfileQuery } from './profile/sections.ts'
import type { PipelineContext } from './read-input.ts'

/** The profile of a request. What it says itself comes before what came with it. */
export function profileOf(
  request: ProfileQuery,
  { pipeline, reading }: Pick<PipelineContext, 'pipeline' | 'reading'>,
): Profile {
  const asked = request.reading ?? reading
  return resolveProfile(pipeline, asked === undefined ? request : { ...request, reading: asked })
}
