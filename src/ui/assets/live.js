// New figures without reloading: the service says that there are some, and the page fetches itself
// and replaces its main part. Without this script every page works, and shows what was then.

const LEAST_MS = 1000
const LOST = 'The connection is lost. These are the last figures that the service gave.'

// The markup is this service's own, in which every foreign text is escaped.
const policy = globalThis.trustedTypes?.createPolicy('haversack', { createHTML: own => own })
const events = new EventSource(`/ui/events${location.search}`)
let isLate = false
let isBusy = false

async function refresh() {
  if (isBusy || document.hidden) {
    isLate = true
    return
  }
  isBusy = true
  isLate = false
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } })
    if (answer.ok && !answer.redirected) show(await answer.text())
  } catch {
    say(LOST)
  }
  setTimeout(() => {
    isBusy = false
    if (isLate) void refresh()
  }, LEAST_MS)
}

function show(markup) {
  const page = new DOMParser().parseFromString(policy?.createHTML(markup) ?? markup, 'text/html')
  const fresh = page.getElementById('main')
  const old = document.getElementById('main')
  // A reader keeps the place where they read or type.
  if (fresh === null || old === null || old.contains(document.activeElement)) return
  // What was opened stays open.
  const openedOf = within => [...within.querySelectorAll('details')]
  const opened = new Set(
    openedOf(old)
      .filter(each => each.open)
      .map(nameOf),
  )
  for (const each of openedOf(fresh)) if (opened.has(nameOf(each))) each.open = true
  old.replaceWith(document.adoptNode(fresh))
}

function nameOf(details) {
  return details.querySelector('summary .name, summary')?.firstChild?.textContent
}

function say(text) {
  const news = document.getElementById('news')
  if (news !== null) news.textContent = text
}

events.addEventListener('written', () => void refresh())
events.addEventListener('error', () => say(LOST))
events.addEventListener('open', () => say(''))
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && isLate) void refresh()
})
