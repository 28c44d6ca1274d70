import type { Caller } from '../../access/access.ts'
import { AppError } from '../../core/base/errors.ts'
import type { Admission } from '../../pool/admission.ts'
import type { AppContext } from '../context.ts'
import { announcedLength, readBody } from '../request/body.ts'
import { requestHeader } from '../request/request-header.ts'

export interface FormFields {
  /** A field; empty if there is none. */
  text(name: string): string
  /** All values of a field. */
  all(name: string): readonly string[]
}

/**
 * The fields of a form. Ends of lines are LF, whatever the browser made of them.
 * @throws AppError `forbidden` if the form is not of a page of the service itself, and what reading
 * a body throws
 */
export async function readForm(
  c: AppContext,
  caller: Caller,
  maxBytes: number,
  admission: Pick<Admission, 'enter'>,
): Promise<FormFields> {
  // Requests that name another origin are refused before.
  if (requestHeader(c, 'origin') === undefined) {
    throw new AppError('forbidden', 'the Origin header is missing')
  }
  const announced = announcedLength(c, maxBytes)
  const ticket = admission.enter(caller, announced ?? 0)
  try {
    const body = await readBody(c, announced, maxBytes, ticket)
    const fields = new URLSearchParams(Buffer.from(body).toString())
    return {
      text: name => (fields.get(name) ?? '').replaceAll('\r\n', '\n'),
      all: name => fields.getAll(name),
    }
  } finally {
    ticket.leave()
  }
}
