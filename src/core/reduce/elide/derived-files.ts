/**
 * Files that are not read line by line: written by tools, or copied from elsewhere. Each entry is
 * compared with whole components of a path, so that `lock` never means `clock.ts`.
 */
const NAMES = new Set([
  'package-lock.json',
  'npm-shrinkwrap.json',
  'yarn.lock',
  'pnpm-lock.yaml',
  'bun.lock',
  'bun.lockb',
  'deno.lock',
  'Cargo.lock',
  'Gemfile.lock',
  'Pipfile.lock',
  'poetry.lock',
  'pdm.lock',
  'uv.lock',
  'composer.lock',
  'mix.lock',
  'pubspec.lock',
  'Podfile.lock',
  'Package.resolved',
  'packages.lock.json',
  'gradle.lockfile',
  'flake.lock',
  'go.sum',
  'go.work.sum',
])
const FOLDERS = new Set(['node_modules', 'vendor', 'third_party', '__generated__', '__snapshots__'])
/** Ends of a file's name, each after a dot that begins a part of it. */
const ENDINGS = [
  '.min.js',
  '.min.css',
  '.min.mjs',
  '.bundle.js',
  '.map',
  '.snap',
  '.pb.go',
  '.pb.cc',
  '.pb.h',
  '_pb2.py',
  '_pb2_grpc.py',
  '.g.dart',
  '.freezed.dart',
  '.designer.cs',
  '.g.cs',
  '.generated.ts',
  '.generated.go',
]

/** Whether a file is a lock file, generated, vendored or minified, by its path alone. */
export function isDerivedFile(path: string): boolean {
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  if (NAMES.has(name) || parts.some(part => FOLDERS.has(part))) return true
  const lower = name.toLowerCase()
  return ENDINGS.some(ending => lower.endsWith(ending) && lower.length > ending.length)
}
