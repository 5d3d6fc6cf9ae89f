import { buffer } from 'node:stream/consumers'

// A process of its own: a hostile document may crash it, exhaust its memory or never end, and nothing else notices. A thread
// would not do: V8 ends the whole process where an allocation is far beyond a thread's memory limit. Its caller watches it.

/** What is converted: HTML as UTF-8, or a PDF. */
export interface Conversion {
  readonly kind: 'html' | 'pdf'
  readonly bytes: Uint8Array
  /** The address that relative links lead from. */
  readonly base: string
  /** Addresses of the libraries' modules. */
  readonly modules: Readonly<Record<'html' | 'pdf', string>>
  /** What is given back of the text. In UTF-8 bytes. */
  readonly maxTextBytes: number
}

/** The argument of the process, as JSON; the document comes through standard input, the text goes to standard output. */
export type Task = Omit<Conversion, 'bytes'>

/** How the process ends where the document cannot be read. */
export const INVALID = 2

async function markdownOf(html: string, { base, modules }: Task): Promise<string> {
  const { htmlToMarkdown } = (await import(modules.html)) as typeof import('@mdream/js')
  const markdown = htmlToMarkdown(html, { origin: base })
  // A picture inside an address says nothing as text, and may be megabytes long.
  return markdown.replaceAll(/\(data:[^)\s]{64,}/g, '(data:…')
}

/** The pages in order, each under a heading of its own; a page without text has only the heading. */
async function textOf(pdf: Uint8Array, { modules }: Task): Promise<string> {
  const { extractText, getDocumentProxy } = (await import(modules.pdf)) as typeof import('unpdf')
  const document = await getDocumentProxy(pdf, { verbosity: 0 })
  const { text } = await extractText(document, { mergePages: false })
  return text.map((page, index) => `[page ${index + 1} of ${text.length}]\n${page}`).join('\n\n')
}

async function main(task: Task): Promise<void> {
  const bytes = new Uint8Array(await buffer(process.stdin))
  const text = task.kind === 'pdf' ? await textOf(bytes, task) : await markdownOf(new TextDecoder().decode(bytes), task)
  const whole = Buffer.from(text.toWellFormed().replaceAll('\0', '\ufffd'))
  process.stdout.write(whole.subarray(0, task.maxTextBytes), () => process.exit(0))
}

const [task] = process.argv.slice(2)
if (task !== undefined) main(JSON.parse(task) as Task).catch(() => process.exit(INVALID))
