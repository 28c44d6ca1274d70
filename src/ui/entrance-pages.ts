import { html } from 'hono/html'
import type { Html } from './layout.ts'

/** @param next path to go to afterwards @param fault why the last key was refused */
export function loginPage(next: string, fault?: string): Html {
  return html`<form method="post" action="/ui/login" class="login">
<p>A key with the scope <code>ui</code> is needed. It is exchanged for a cookie that ends after
12 hours, or when the key is revoked.</p>
${fault === undefined ? '' : html`<p class="bad" role="alert">${fault}</p>`}
<label>Key <input name="key" type="password" required autocomplete="off" autofocus></label>
<input type="hidden" name="next" value="${next}">
<button>Enter</button></form>`
}

export function faultPage(detail: string): Html {
  return html`<p class="none">${detail}</p><p><a href="/ui">To the overview</a></p>`
}
