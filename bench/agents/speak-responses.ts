import {
  commandOf,
  type Events,
  LAST_WORDS,
  type ModelRequest,
  nextStep,
  resultsIn,
  retrievalIn,
  toolNamed,
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
  const call = step === undefined ? null : callOf(request, step)
  const item =
    call === null
      ? {
          ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
          content: [{ type: 'output_text', text: LAST_WORDS, annotations: [] }],
        }
      : { ...{ id: `fc_${done}`, call_id: `call_${done}`, status: 'completed' }, ...call }
  const response = { id: `resp_${done}`, object: 'response', status: 'in_progress', output: [] }
  const usage = {
    ...{ input_tokens: 100, input_tokens_details: { cached_tokens: 0 }, total_tokens: 105 },
    ...{ output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 } },
  }
  return [
    { type: 'response.created', ...{ response } },
    { type: 'response.output_item.added', ...{ output_index: 0, item } },
    { type: 'response.output_item.done', ...{ output_index: 0, item } },
    {
      type: 'response.completed',
      ...{ response: { ...response, status: 'completed', output: [item], usage } },
    },
  ]
}

/** The call of the step; `null` if the agent has no tool for it. */
function callOf(request: ModelRequest, step: Step): object | null {
  const called = (name: string, args: object) => {
    return { type: 'function_call', name, arguments: JSON.stringify(args) }
  }
  if ('retrieves' in step) {
    const { tool, hash } = retrievalIn(request)!
    return called(tool, { hash, lines: '1-5' })
  }
  const shell = toolsOf(request).find(each => Object.hasOwn(SHELLS, each))
  if ('tool' in step) {
    if (shell !== 'exec') return called(toolNamed(request, step.tool), step.args)
    const input = `text(await tools.${step.tool}(${JSON.stringify(step.args)}))`
    return { type: 'custom_tool_call', name: shell, input }
  }
  return shell === undefined ? null : { name: shell, ...SHELLS[shell]!(commandOf(step)) }
}
