import { z } from 'zod'
import { toBytes } from '../base/text-bytes.ts'
import { type InputsRequest, inputsRequest } from '../contract/kept-contents.ts'
import type { Operation } from './operation.ts'

/** `POST /v1/inputs`, as far as a worker goes: the content to keep. The answer is the store's. */
export const keepInputOperation: Operation<InputsRequest, object> = {
  name: 'inputs',
  request: inputsRequest,
  answer: z.object({}),
  run: ({ content }) => ({ answer: {}, reports: [], keep: [toBytes(content)] }),
}
