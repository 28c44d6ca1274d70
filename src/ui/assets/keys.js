// Keys for what can be done without them; the page lists them at its foot.

const press = selector => document.querySelector(selector)?.click()

function step(by) {
  const rows = [...document.querySelectorAll('.rows a.name, .rows summary')]
  const at = rows.indexOf(document.activeElement)
  rows[Math.max(0, Math.min(rows.length - 1, at + by))]?.focus()
}

function find() {
  const field = document.querySelector('main input[name=tool], main textarea')
  if (field === null) location.assign('/ui/tools')
  else field.focus()
}

function list() {
  const keys = document.getElementById('keys')
  if (keys === null) return
  keys.open = !keys.open
  if (keys.open) keys.querySelector('summary').focus()
}

const actions = {
  j: () => step(1),
  k: () => step(-1),
  '/': find,
  '?': list,
  '[': () => press('main a[rel=prev]'),
  ']': () => press('main a[rel=next]'),
}

addEventListener('keydown', event => {
  const isTyped = event.target.matches('input, textarea, select')
  if (isTyped || event.ctrlKey || event.metaKey || event.altKey) return
  const action = actions[event.key]
  if (action === undefined) return
  event.preventDefault()
  action()
})
