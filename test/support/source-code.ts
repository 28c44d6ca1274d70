/** Lines of so many functions, each of which has a block in its body. */
export function functionLines(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => [
    `export function step${at}(input: Input): Output {`,
    `  const found = lookUp(input, ${at * 7919})`,
    '  if (found.isEmpty) {',
    `    report(found, ${at * 31})`,
    '  }',
    `  return transform(found, ${at * 104_729})`,
    '}',
  ]).flat()
}
