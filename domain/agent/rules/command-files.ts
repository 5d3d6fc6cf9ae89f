const MAX_NAMES = 64
/** In characters. No file system accepts longer paths. */
const MAX_LENGTH = 4_096

/** A word of a shell command, including quoted parts and escaped characters. */
const WORD = /(?:[^\s\\'"`$;|&<>()=,{}]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g

/** Files that programs read implicitly to decide what to run. */
const RUN_BY: Readonly<Record<string, readonly string[]>> = {
  ...{ npm: ['package.json'], npx: ['package.json'], pnpm: ['package.json'], yarn: ['package.json'] },
  make: ['GNUmakefile', 'makefile', 'Makefile'],
}

/**
 * Names in a shell command that may be files the command runs: its words, words inside quoted words, and the files that
 * `npm` and `make` read. Names that the shell computes are not found.
 */
export function namesInCommand(command: string): readonly string[] {
  const names = new Set<string>()
  const add = (text: string, depth: number): void => {
    for (const word of text.match(WORD) ?? []) {
      const plain = unquoted(word)
      for (const name of [plain, ...(RUN_BY[plain] ?? [])]) if (!name.startsWith('-') && name !== '') names.add(name)
      if (depth < 2 && /\s|=/.test(plain)) add(plain, depth + 1)
    }
  }
  add(command, 0)
  return [...names].filter((name) => name.length <= MAX_LENGTH && !name.includes('\0')).slice(0, MAX_NAMES)
}

const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single, double, escaped) => single ?? (double === undefined ? escaped : double.replace(/\\([\s\S])/g, '$1')),
  )
