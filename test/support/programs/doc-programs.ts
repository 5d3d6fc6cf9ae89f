import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const DOCS = join(import.meta.dirname, '../../../api/docs')

/** The TypeScript programs in the pages of the docs. */
export const docPrograms = (): string[] =>
  readdirSync(DOCS)
    .filter((name) => name.endsWith('.md'))
    .sort()
    .flatMap((page) => [...readFileSync(join(DOCS, page), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)])
    .map(([, text]) => text!)
