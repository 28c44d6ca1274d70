import { createRandom, type Random } from '../support/random.ts'
import { hex, moment, NAMES, pick, version } from './words.ts'

/** HTML and XML whose parts are a table. */
export function markupTexts(): readonly string[] {
  const kinds = [htmlTable, plainTable, testReport, dependencies, siteMap, feed, coverage, linkList]
  return Array.from({ length: 64 }, (_, index) => {
    return kinds[index % kinds.length]!(createRandom(9_000 + index))
  })
}

const many = (random: Random, least: number, row: (at: number) => string) =>
  Array.from({ length: least + random(20) }, (_, at) => row(at)).join('')

function htmlTable(random: Random): string {
  const rows = many(random, 6, at => {
    const name = pick(random, NAMES)
    return `      <tr>
        <td class="name"><a href="/services/${name}-${at}">${name}-${at}</a></td>
        <td class="num">${random(9000)}</td>
        <td class="num">${random(100)} ms</td>
        <td>${pick(random, ['up', 'down', 'slow'])}</td>
      </tr>
`
  })
  return `<!DOCTYPE html>
<html>
<head><title>Services</title></head>
<body>
  <h1>Services</h1>
  <table class="list">
    <thead>
      <tr><th>Name</th><th>Requests</th><th>p99</th><th>State</th></tr>
    </thead>
    <tbody>
${rows}    </tbody>
  </table>
</body>
</html>
`
}

function plainTable(random: Random): string {
  const rows = many(
    random,
    8,
    at => `<tr><td>${at + 1}</td><td>${pick(random, NAMES)}</td><td>${version(random)}</td></tr>\n`,
  )
  return `<table>\n<tr><th>No</th><th>Package</th><th>Version</th></tr>\n${rows}</table>\n`
}

function testReport(random: Random): string {
  const cases = many(random, 8, at => {
    const name = pick(random, NAMES)
    const start = `    <testcase classname="shop.${name}.test_${name}" name="test_${pick(random, NAMES)}_${at}" time="0.${100 + random(900)}"`
    return random(9) === 0
      ? `${start}>\n      <failure message="expected ${random(9)}, got ${random(9)}" type="AssertionError"/>\n    </testcase>\n`
      : `${start}/>\n`
  })
  return `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
  <testsuite name="shop" errors="0" failures="2" timestamp="${moment(random)}">
${cases}  </testsuite>
</testsuites>
`
}

function dependencies(random: Random): string {
  const all = many(
    random,
    5,
    () => `    <dependency>
      <groupId>org.example.${pick(random, NAMES)}</groupId>
      <artifactId>${pick(random, NAMES)}-core</artifactId>
      <version>${version(random)}</version>
    </dependency>
`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <artifactId>shop</artifactId>
  <dependencies>
${all}  </dependencies>
</project>
`
}

function siteMap(random: Random): string {
  const urls = many(
    random,
    6,
    () =>
      `  <url>\n    <loc>https://shop.example.org/${pick(random, NAMES)}/${random(900)}</loc>\n    <lastmod>2026-11-${10 + random(19)}</lastmod>\n    <priority>0.${1 + random(9)}</priority>\n  </url>\n`,
  )
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls}</urlset>\n`
}

function feed(random: Random): string {
  const entries = many(
    random,
    5,
    () => `  <entry>
    <title>Release ${version(random)} of ${pick(random, NAMES)}</title>
    <link href="https://news.example.org/${hex(random, 6)}"/>
    <id>urn:uuid:${hex(random, 8)}-${hex(random, 12)}</id>
    <updated>${moment(random)}</updated>
    <summary>Mends the ${pick(random, NAMES)} &amp; the ${pick(random, NAMES)}.</summary>
  </entry>
`,
  )
  return `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n  <title>Releases</title>\n${entries}</feed>\n`
}

function coverage(random: Random): string {
  const lines = many(
    random,
    14,
    at => `          <line number="${at + 3}" hits="${random(40)}"/>\n`,
  )
  return `<?xml version="1.0" ?>
<coverage line-rate="0.9${random(9)}" version="7.4">
  <packages>
    <package name="shop">
      <class name="${pick(random, NAMES)}.py" filename="shop/${pick(random, NAMES)}.py">
        <lines>
${lines}        </lines>
      </class>
    </package>
  </packages>
</coverage>
`
}

function linkList(random: Random): string {
  const items = many(random, 8, () => {
    const name = pick(random, NAMES)
    return `<li><a href="/docs/${name}.html" title="About ${name}">${name}</a> <span>${random(90)} pages</span></li>\n`
  })
  return `<nav>\n<ul>\n${items}</ul>\n</nav>\n`
}
