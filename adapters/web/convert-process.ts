import { buffer } from 'node:stream/consumers'
import type { ConversionTask } from './conversion.ts'

// Converts documents in a separate process, because a hostile document may crash it, exhaust its memory or never end. A
// thread is not enough: V8 ends the whole process when an allocation far exceeds a thread's memory limit. The caller
// watches the process. The process may read only this file and the libraries, so this file imports only types.

async function markdownOf(html: string, { base, modules }: ConversionTask): Promise<string> {
  const { htmlToMarkdown } = (await import(modules.html)) as typeof import('@mdream/js')
  const markdown = htmlToMarkdown(html, { origin: base })
  // An image in a `data:` address is useless as text and may have megabytes.
  return markdown.replaceAll(/\(data:[^)\s]{64,}/g, '(data:…')
}

/** The pages in order, each under a heading. A page without text has only the heading. */
async function textOf(pdf: Uint8Array, { modules }: ConversionTask): Promise<string> {
  const { extractText, getDocumentProxy } = (await import(modules.pdf)) as typeof import('unpdf')
  const document = await getDocumentProxy(pdf, { verbosity: 0 })
  const { text } = await extractText(document, { mergePages: false })
  return text.map((page, index) => `[page ${index + 1} of ${text.length}]\n${page}`).join('\n\n')
}

async function main(task: ConversionTask): Promise<void> {
  const bytes = new Uint8Array(await buffer(process.stdin))
  const text = task.kind === 'pdf' ? await textOf(bytes, task) : await markdownOf(new TextDecoder().decode(bytes), task)
  const whole = Buffer.from(text.toWellFormed().replaceAll('\0', '\ufffd'))
  process.stdout.write(whole.subarray(0, task.maxTextBytes), () => process.exit(0))
}

const task = JSON.parse(process.argv[2] ?? 'null') as ConversionTask
main(task).catch(() => process.exit(task.invalidExit))
