import { isMain, LAST_WORDS, type ModelRequest, nextStep, resultsIn, toolNamed } from './model.ts'
import type { Step } from './project.ts'

/** An answer of Gemini's API in one piece; a stream has one event with it. */
export function speakGemini(request: ModelRequest, script: readonly Step[]): object {
  const done = resultsIn(request.contents, /"functionResponse":/g)
  const step = isMain(request) ? nextStep(request, script[done]) : undefined
  const part = step === undefined ? { text: LAST_WORDS } : { functionCall: callOf(request, step) }
  const content = { role: 'model', parts: [part] }
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 }
  return { candidates: [{ content, finishReason: 'STOP', index: 0 }], usageMetadata }
}

/** As Gemini CLI's tools take their arguments. */
function callOf(request: ModelRequest, step: Step): object {
  if ('retrieves' in step) throw new Error('the agent has no tool that fetches')
  if ('tool' in step) return { name: toolNamed(request, step.tool), args: step.args }
  if ('command' in step) {
    return { name: 'run_shell_command', args: { ...step, description: 'look' } }
  }
  const { file, offset = 1, limit } = step
  const lines = limit === undefined ? {} : { start_line: offset, end_line: offset + limit - 1 }
  return { name: 'read_file', args: { ...lines, file_path: file } }
}
