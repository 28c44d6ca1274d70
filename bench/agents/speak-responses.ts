import {
  commandOf,
  type Events,
  LAST_WORDS,
  type ModelRequest,
  nextStep,
  resultsIn,
  retrievalIn,
  toolsOf,
} from './model.ts'
import type { Step } from './project.ts'

/** Tools that run a command, as their calls are written. */
const SHELLS: Readonly<Record<string, (command: string) => object>> = {
  // A program that runs the command, and shows what it gave.
  exec: cmd => ({
    type: 'custom_tool_call',
    input: `text((await tools.exec_command(${JSON.stringify({ cmd })})).output)`,
  }),
  exec_command: cmd => ({ type: 'function_call', arguments: JSON.stringify({ cmd }) }),
  shell_command: command => ({ type: 'function_call', arguments: JSON.stringify({ command }) }),
}

/** A streamed answer of OpenAI's Responses API. */
export function speakResponses(request: ModelRequest, script: readonly Step[]): Events {
  const done = resultsIn(request.input, /"type":"\w+_output"/g)
  const step = nextStep(request, script[done])
  const isRetrieval = step !== undefined && 'retrieves' in step
  const shell = toolsOf(request).find(each => Object.hasOwn(SHELLS, each))
  const name = isRetrieval ? retrievalIn(request)!.tool : shell
  const item =
    step === undefined || name === undefined
      ? {
          ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: LAST_WORDS, annotations: [] }],
        }
      : {
          ...{ id: `fc_${done}`, call_id: `call_${done}`, name, status: 'completed' },
          ...(isRetrieval ? retrievalCall(request) : SHELLS[name]!(commandOf(step))),
        }
  const response = { id: `resp_${done}`, object: 'response', status: 'in_progress', output: [] }
  const usage = {
    ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, total_tokens: 105 },
    ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 } },
  }
  return [
    { type: 'response.created', ...{ response } },
    { type: 'response.output_item.done', ...{ output_index: 0, item } },
    {
      type: 'response.completed',
      ...{ response: { ...response, status: 'completed', output: [item], usage } },
    },
  ]
}

function retrievalCall(request: ModelRequest): object {
  const { hash } = retrievalIn(request)!
  return { type: 'function_call', arguments: JSON.stringify({ hash, lines: '1-5' }) }
}
