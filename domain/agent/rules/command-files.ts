/** Names in a command beyond this number are not looked at. */
const MAX_NAMES = 64
/** In characters; no file system takes longer paths. */
const MAX_LENGTH = 4_096

/** A word of a shell command: quoted parts and escaped characters belong to it. */
const WORD = /(?:[^\s\\'"`$;|&<>()=,{}]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g

/** Files that programs read by themselves to learn what to run. */
const RUN_BY: Readonly<Record<string, readonly string[]>> = {
  ...{ npm: ['package.json'], npx: ['package.json'], pnpm: ['package.json'], yarn: ['package.json'] },
  make: ['GNUmakefile', 'makefile', 'Makefile'],
}

/**
 * The names in a shell command that may be files which the command runs: its words, the words within quoted ones, and the
 * files by which `npm` and `make` know what to run. Names that the shell computes are not among them.
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
