import { AppError } from '../base/errors.ts'
import { toText } from '../base/text-bytes.ts'
import type { LookupRequest, LookupResult } from '../contract/lookup.ts'
import type { OperationContext } from './operation.ts'

/** A request whose content is sent, or kept with `/v1/inputs`. */
interface ContentOrRef {
  readonly content?: string | undefined
  readonly input_ref?: string | undefined
}

/** @throws AppError `invalid_request` if it has both or none */
export function checkContent({ input_ref, content }: ContentOrRef): void {
  if ((content === undefined) !== (input_ref === undefined)) return
  const message = 'exactly one of content and input_ref is required'
  throw new AppError('invalid_request', message, { errors: [{ path: 'content', message }] })
}

/** The lookup of a kept content; empty if the content was sent. */
export function contentLookup({ input_ref }: ContentOrRef): Pick<LookupRequest, 'input_ref'> {
  return input_ref === undefined ? {} : { input_ref }
}

/**
 * The request with its content, sent or looked up.
 * @throws AppError `invalid_request` if it has both or none; and why there is no kept content
 */
export function withContent<Request extends ContentOrRef>(
  request: Request,
  { resolutions }: OperationContext,
): Request & { content: string } {
  checkContent(request)
  const { content = keptText(resolutions?.[0] ?? null) } = request
  return { ...request, content }
}

/** @throws AppError if there is no kept content */
export function keptText(resolution: LookupResult | null): string {
  const { problem, input } = resolution ?? {}
  if (problem !== undefined) throw AppError.of(problem)
  if (input !== undefined) return toText(input)
  throw new AppError('invalid_request', 'input_ref needs the service, which keeps inputs')
}
