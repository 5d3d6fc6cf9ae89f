const MAX_NAMES = 64
/** In characters. No file system accepts longer paths. */
const MAX_LENGTH = 4_096
/** Only the beginning of a longer command is read, because the search blocks the event loop. In characters. */
const MAX_COMMAND = 64 * 1024

/** A word of a shell command, including quoted parts and escaped characters. */
const WORD = /(?:[^\s\\'"`$;|&<>()=,{}]|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g

/** Files that programs read implicitly to decide what to run. */
const RUN_BY: Readonly<Record<string, readonly string[]>> = {
  ...{ npm: ['package.json'], npx: ['package.json'], pnpm: ['package.json'], yarn: ['package.json'] },
  make: ['GNUmakefile', 'makefile', 'Makefile'],
}

/** Characters with which a shell makes names of other text. */
const COMPUTES = /[$`*?[{~]/

export interface CommandNames {
  readonly names: readonly string[]
  /** The command is too long to find all names, or its shell makes some of them. */
  readonly more: boolean
}

/**
 * Names in a shell command that may be files the command runs: its words, words inside quoted words, and the files that
 * `npm` and `make` read. After `cd FOLDER` a name counts below that folder too.
 */
export function namesInCommand(command: string): CommandNames {
  const found = new Set<string>()
  const take = (name: string): void => {
    if (name !== '' && name[0] !== '-' && name.length <= MAX_LENGTH && !name.includes('\0')) found.add(name)
  }
  const add = (text: string, depth: number): void => {
    let folder = ''
    let before = ''
    for (const [word] of text.matchAll(WORD)) {
      if (found.size > MAX_NAMES) return
      const plain = unquoted(word)
      for (const name of [plain, ...(RUN_BY[plain] ?? [])]) {
        take(name)
        if (folder !== '') take(`${folder}/${name}`)
      }
      if (before === 'cd')
        folder = folder === '' || plain[0] === '/' ? plain : `${folder}/${plain}`.slice(0, MAX_LENGTH)
      before = plain
      if (depth < 2 && /\s|=/.test(plain)) add(plain, depth + 1)
    }
  }
  add(command.slice(0, MAX_COMMAND), 0)
  const more = found.size > MAX_NAMES || command.length > MAX_COMMAND || COMPUTES.test(command)
  return { names: [...found].slice(0, MAX_NAMES), more }
}

const unquoted = (word: string): string =>
  word.replace(
    /'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])/g,
    (_, single, double, escaped) => single ?? (double === undefined ? escaped : double.replace(/\\([\s\S])/g, '$1')),
  )
