import { html } from 'hono/html'
import type { ShowAnswer } from '../core/operations/show-result.ts'
import type { Html } from './layout.ts'
import { comparison } from './result-page.ts'

const MODES = ['lossless', 'elide', 'trim'] as const

/** What was filled in. */
export interface TryForm {
  readonly content: string
  readonly tool: string
  readonly model: string
  readonly mode: string
  readonly budget: string
}

export const EMPTY_FORM: TryForm = { content: '', tool: '', model: '', mode: MODES[0], budget: '' }

/** @param outcome what the text became, or why it cannot be shown; absent: nothing was sent yet */
export function tryPage(
  { content, tool, model, mode, budget }: TryForm,
  outcome?: ShowAnswer | { readonly fault: string },
): Html {
  return html`<p>Paste a tool result. Nothing of it is kept, counted or logged. The browser sends
each end of a line as CR LF; it is read as LF.</p>
<form method="post" action="/ui/try" class="try">
<label>Result
<textarea name="content" rows="12" required spellcheck="false">
${content}</textarea></label>
<div class="row">
<label>Tool <input name="tool" value="${tool}" maxlength="512"></label>
<label>Model <input name="model" value="${model}" maxlength="256" placeholder="gpt-5"></label>
<label>Mode <select name="mode">${MODES.map(
    each => html`<option ${each === mode ? 'selected' : ''}>${each}</option>`,
  )}</select></label>
<label>Budget in tokens
<input name="budget" value="${budget}" inputmode="numeric" pattern="[0-9]*" maxlength="9"></label>
<button>Encode</button>
</div></form>
${outcome === undefined ? '' : shown(content, outcome)}`
}

function shown(content: string, outcome: ShowAnswer | { readonly fault: string }): Html {
  if ('fault' in outcome) return html`<p class="bad" role="alert">${outcome.fault}</p>`
  return comparison(content, outcome)
}
