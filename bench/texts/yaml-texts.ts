import { stringify } from 'yaml'
import { createRandom, type Random } from '../support/random.ts'
import { hex, integrity, moment, NAMES, pick, TEAMS, version } from './words.ts'

/** YAML as `kubectl`, package managers, specifications and people write it. */
export function yamlTexts(): readonly string[] {
  const kinds = [pods, manifests, specification, pnpmLock, berryLock, yarnLock, compose, workflow]
  return Array.from({ length: 64 }, (_, index) => {
    return kinds[index % kinds.length]!(createRandom(7_000 + index))
  })
}

/** As `kubectl get -o yaml` prints objects. */
function asKubectl(value: unknown): string {
  return stringify(value, { indentSeq: false, lineWidth: 0, sortMapEntries: true })
}

function pods(random: Random): string {
  const items = Array.from({ length: 2 + random(6) }, () => pod(random))
  return asKubectl({ apiVersion: 'v1', items, kind: 'List', metadata: { resourceVersion: '' } })
}

function pod(random: Random): unknown {
  const name = pick(random, NAMES)
  const replica = hex(random, 10)
  const started = moment(random)
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      annotations: { 'checksum/config': hex(random, 40) },
      creationTimestamp: started,
      generateName: `${name}-${replica}-`,
      labels: { app: name, 'pod-template-hash': replica, team: pick(random, TEAMS) },
      name: `${name}-${replica}-${hex(random, 5)}`,
      namespace: 'shop',
      resourceVersion: String(100_000 + random(900_000)),
      uid: `${hex(random, 8)}-${hex(random, 4)}-4${hex(random, 3)}-${hex(random, 12)}`,
    },
    spec: {
      containers: [
        {
          args: ['--port=8080', `--workers=${1 + random(8)}`],
          env: [
            { name: 'LOG_LEVEL', value: pick(random, ['info', 'debug']) },
            { name: 'CACHE_SIZE', value: String(64 * (1 + random(8))) },
            { name: 'REGION', value: pick(random, ['eu-north', 'eu-west']) },
          ],
          image: `registry.example.org/shop/${name}:${version(random)}`,
          imagePullPolicy: 'IfNotPresent',
          name,
          ports: [
            { containerPort: 8080, name: 'http', protocol: 'TCP' },
            { containerPort: 9090, name: 'metrics', protocol: 'TCP' },
          ],
          resources: { limits: { cpu: '1', memory: '512Mi' }, requests: { cpu: '250m' } },
        },
      ],
      nodeName: `node-${random(12)}`,
      restartPolicy: 'Always',
      volumes: [{ emptyDir: {}, name: 'scratch' }],
    },
    status: {
      conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(type => ({
        lastProbeTime: null,
        lastTransitionTime: started,
        status: random(8) === 0 ? 'False' : 'True',
        type,
      })),
      hostIP: `10.0.0.${random(250)}`,
      phase: 'Running',
      podIP: `10.1.${random(9)}.${random(250)}`,
      startTime: started,
    },
  }
}

/** Documents that people wrote, with comments. */
function manifests(random: Random): string {
  const name = pick(random, NAMES)
  const team = pick(random, TEAMS)
  const labels = `  labels:\n    app: ${name}\n    team: ${team}\n`
  return `# ${name}: belongs to ${team}.
apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
${labels}spec:
  # Two at least, so that a node can be drained.
  replicas: ${2 + random(4)}
  selector:
    matchLabels:
      app: ${name}
  template:
    metadata:
      labels:
        app: ${name}
    spec:
      containers:
        - name: ${name}
          image: registry.example.org/shop/${name}:${version(random)}
          ports:
            - name: http
              containerPort: 8080
            - name: metrics
              containerPort: 9090
          env:
            - name: LOG_LEVEL
              value: "info"
            - name: WORKERS
              value: "${1 + random(8)}" # one for each processor
            - name: QUEUE_URL
              valueFrom:
                secretKeyRef:
                  name: ${name}
                  key: queue-url
          readinessProbe:
            httpGet: {path: /readyz, port: http}
            periodSeconds: 5
          livenessProbe:
            httpGet: {path: /livez, port: http}
            periodSeconds: 10
---
apiVersion: v1
kind: Service
metadata:
  name: ${name}
${labels}spec:
  selector:
    app: ${name}
  ports:
    - name: http
      port: 80
      targetPort: http
    - name: metrics
      port: 9090
      targetPort: metrics
`
}

function specification(random: Random): string {
  const names = Array.from({ length: 3 + random(3) }, () => pick(random, NAMES))
  const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  const answer = (name: string) => ({
    '200': {
      description: 'The answer',
      content: { 'application/json': { schema: reference(name) } },
    },
    '404': { description: 'There is none', content: {} },
  })
  const paths = Object.fromEntries(
    names.map(name => [
      `/v1/${name}/{id}`,
      {
        get: {
          operationId: `get_${name}`,
          tags: [name],
          parameters: [
            { name: 'id', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'limit', in: 'query', required: false, schema: { type: 'integer' } },
          ],
          responses: answer(name),
        },
        delete: {
          operationId: `delete_${name}`,
          tags: [name],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: answer(name),
        },
      },
    ]),
  )
  const schemas = Object.fromEntries(
    names.map(name => [
      name,
      {
        type: 'object',
        required: ['id', 'name'],
        properties: {
          id: { type: 'string', description: `Names the ${name}` },
          name: { type: 'string' },
          created_at: { type: 'string', format: 'date-time' },
          count: { type: 'integer', minimum: 0 },
        },
      },
    ]),
  )
  const info = { title: 'Shop', version: version(random) }
  return stringify({ openapi: '3.1.0', info, paths, components: { schemas } }, { lineWidth: 0 })
}

function packagesOf(random: Random): readonly { name: string; at: string }[] {
  const names = new Set(Array.from({ length: 12 + random(20) }, () => pick(random, NAMES)))
  return [...names].map(name => ({
    name: random(3) === 0 ? `@shop/${name}` : name,
    at: version(random),
  }))
}

function pnpmLock(random: Random): string {
  const all = packagesOf(random)
  const spelled = ({ name, at }: { name: string; at: string }) =>
    name.startsWith('@') ? `'${name}@${at}'` : `${name}@${at}`
  const keyOf = (name: string) => (name.startsWith('@') ? `'${name}'` : name)
  const uses = all
    .slice(0, 4)
    .map(
      ({ name, at }) =>
        `      ${keyOf(name)}:\n        specifier: ^${at}\n        version: ${at}\n`,
    )
  const packages = all.map(
    each =>
      `  ${spelled(each)}:\n    resolution: {integrity: ${integrity(random)}}\n${
        random(3) === 0 ? '' : `    engines: {node: '>=${pick(random, ['6', '14', '18'])}'}\n`
      }`,
  )
  const snapshots = all.map(each => {
    if (random(2) === 0) return `  ${spelled(each)}: {}\n`
    const other = pick(random, all)
    return `  ${spelled(each)}:\n    dependencies:\n      ${keyOf(other.name)}: ${other.at}\n`
  })
  return `lockfileVersion: '9.0'

settings:
  autoInstallPeers: true
  excludeLinksFromLockfile: false

importers:

  .:
    dependencies:
${uses.join('')}
packages:

${packages.join('\n')}
snapshots:

${snapshots.join('\n')}`
}

function berryLock(random: Random): string {
  const all = packagesOf(random).map(({ name, at }) => {
    const other =
      random(2) === 0 ? '' : `  dependencies:\n    ${pick(random, NAMES)}: "npm:^2.0.0"\n`
    return `"${name}@npm:^${at}":
  version: ${at}
  resolution: "${name}@npm:${at}"
${other}  checksum: 10c0/${hex(random, 64)}
  languageName: node
  linkType: hard
`
  })
  return `# This file is generated by running "yarn install" inside your project.
# Manual changes might be lost - proceed with caution!

__metadata:
  version: 8
  cacheKey: 10c0

${all.join('\n')}`
}

function yarnLock(random: Random): string {
  const all = packagesOf(random).map(({ name, at }) => {
    const other = random(2) === 0 ? '' : `  dependencies:\n    ${pick(random, NAMES)} "^2.0.0"\n`
    const key = name.startsWith('@') ? `"${name}@^${at}"` : `${name}@^${at}`
    return `${key}:
  version "${at}"
  resolved "https://registry.example.org/${name}/-/${name}-${at}.tgz#${hex(random, 40)}"
  integrity ${integrity(random)}
${other}`
  })
  return `# THIS IS AN AUTOGENERATED FILE. DO NOT EDIT THIS FILE DIRECTLY.
# yarn lockfile v1


${all.join('\n')}`
}

function compose(random: Random): string {
  const services = Array.from({ length: 3 + random(4) }, (_, at) => {
    const name = NAMES[(at * 7 + random(5)) % NAMES.length]!
    return `  ${name}:
    image: registry.example.org/shop/${name}:${version(random)}
    restart: unless-stopped
    environment:
      LOG_LEVEL: info
      REGION: "${pick(random, ['eu-north', 'eu-west'])}"
    ports:
      - "${8000 + at}:8080"
    depends_on:
      - queue
    healthcheck:
      test: ["CMD", "curl", "-f", "http://localhost:8080/livez"]
      interval: ${5 + random(30)}s
`
  })
  return `name: shop

services:
${services.join('\n')}
volumes:
  data: {}
`
}

function workflow(random: Random): string {
  const jobs = ['lint', 'unit', 'build'].slice(0, 1 + random(3)).map(
    job => `  ${job}:
    runs-on: ubuntu-latest
    timeout-minutes: ${5 + random(20)}
    steps:
      - uses: actions/checkout@v4
      # The version that the service runs on.
      - uses: actions/setup-node@v4
        with:
          node-version: ${22 + random(4)}
          cache: npm
      - name: Install
        run: npm ci
      - name: Run ${job}
        run: |
          npm run ${job}
          git diff --exit-code
`,
  )
  return `name: check

on:
  push:
    branches: [main]
  pull_request:

permissions:
  contents: read

jobs:
${jobs.join('\n')}`
}
