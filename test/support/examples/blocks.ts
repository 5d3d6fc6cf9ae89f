import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')

/** A fenced block of a page of the docs. */
export interface Block {
  /** The page, relative to the project. */
  readonly page: string
  /** The line of the opening fence, from 1. */
  readonly line: number
  /** The info string, such as `ts`; empty without one. */
  readonly language: string
  readonly text: string
}

/** The pages with examples, relative to the project. */
export const pages = (): string[] => [
  'README.md',
  ...readdirSync(join(ROOT, 'api/docs'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => `api/docs/${name}`),
]

/** The fenced blocks of a page in their order. Throws if a fence is not closed. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  let open: { line: number; language: string; lines: string[] } | null = null
  readFileSync(join(ROOT, page), 'utf8')
    .split('\n')
    .forEach((text, at) => {
      const fence = /^\s*```(.*)$/.exec(text)
      if (fence === null) open?.lines.push(text)
      else if (open === null) open = { line: at + 1, language: fence[1]!.trim(), lines: [] }
      else {
        const { line, language, lines } = open
        blocks.push({ page, line, language, text: `${lines.join('\n')}\n` })
        open = null
      }
    })
  if (open !== null) throw new Error(`${page}: the fence of line ${(open as { line: number }).line} is not closed`)
  return blocks
}

/** The blocks of all pages in one of these languages. */
export const blocksIn = (...languages: readonly string[]): Block[] =>
  pages()
    .flatMap(blocksOf)
    .filter(({ language }) => languages.includes(language))
