import { extname } from 'node:path'
import type { Command } from 'commander'
import type { z } from 'zod'
import { asOne, refusal, take } from '../../../http/answers.ts'
import type { DocumentEntry, DocumentList } from '../../../operations/document/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { authorOf } from '../../output/document-author.ts'
import { choice, type Kit, readAll, readText, whole } from '../kit.ts'
import { discussDocuments } from './docs-discuss.ts'
import { proveDocuments } from './docs-prove.ts'

const FORMATS = ['markdown', 'html', 'loro', 'json'] as const

/** Finds a document by a prefix of its id. Throws a UsageError if the prefix matches none or several. */
async function documentId(ctx: Context, prefix: string, need: 'read' | 'write' = 'read'): Promise<string> {
  const found = (await all(ctx, need)).filter((one) => one.documentId.startsWith(prefix))
  const exact = found.find((one) => one.documentId === prefix)
  if (exact !== undefined || found.length === 1) return (exact ?? found[0]!).documentId
  const seen = `see "${ctx.command('docs', 'list')}"`
  throw new UsageError(found.length > 1 ? `"${prefix}" is not unique; ${seen}` : `no document "${prefix}"; ${seen}`)
}

async function all(ctx: Context, need: 'read' | 'write' = 'read'): Promise<z.infer<typeof DocumentList>['documents']> {
  const client = await ctx.client(need)
  const found: z.infer<typeof DocumentList>['documents'] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: '500', ...(after ? { after } : {}) }
    const page: z.infer<typeof DocumentList> = await take(client.v1.documents.$get({ query }))
    found.push(...page.documents)
    after = page.next
  }
  return found
}

async function list(ctx: Context): Promise<number> {
  ctx.list(await all(ctx), [
    { title: 'DOCUMENT', of: (one) => one.documentId },
    { title: 'REVISION', of: (one) => one.revision, side: 'right' },
    { title: 'CHANGED', of: (one) => one.updatedAt, optional: true },
    { title: 'BY', of: (one) => one.updatedBy, optional: true },
    { title: 'TITLE', of: (one) => one.title, flexible: true },
  ])
  return EXIT.done
}

interface CreateOptions {
  title?: string
  format?: 'markdown' | 'html'
}

async function create(ctx: Context, file: string | undefined, o: CreateOptions): Promise<number> {
  const content = file === undefined ? null : file === '-' ? await readAll(ctx) : readText(file, file, ctx.io.cwd)
  const isHtml = /^\.html?$/i.test(extname(file ?? ''))
  const format = content === null ? 'empty' : (o.format ?? (isHtml ? 'html' : 'markdown'))
  const title = o.title ?? (file === undefined || file === '-' ? 'Untitled' : file.replace(/^.*\//, ''))
  const json = { title, format, by: ctx.by, ...(content === null ? {} : { content }) } as const
  const client = await ctx.client('write')
  const made = await take(client.v1.documents.$post({ header: asOne(), json }))
  ctx.show(made, () => [made.documentId])
  for (const one of made.diagnostics) ctx.note(`left out: ${Object.values(one).join(' ')}`)
  return EXIT.done
}

interface ShowOptions {
  format?: (typeof FORMATS)[number]
  revision?: number
  time?: string
}

/** A document in the requested format, as the server returns it. */
async function asked(ctx: Context, id: string, o: ShowOptions): Promise<Response> {
  const query = new URLSearchParams({ format: o.format ?? 'markdown' })
  if (o.revision !== undefined) query.set('revision', String(o.revision))
  if (o.time !== undefined) query.set('time', o.time)
  const backend = await ctx.backend('read')
  const response = await backend.fetch(new Request(`http://localhost/v1/documents/${id}?${query}`))
  if (!response.ok) throw await refusal(response)
  return response
}

async function show(ctx: Context, prefix: string, o: ShowOptions): Promise<number> {
  const id = await documentId(ctx, prefix)
  if (ctx.format === 'table') {
    const text = await (await asked(ctx, id, { ...o, format: 'markdown' })).text()
    ctx.show(text, () => text.trimEnd().split('\n'))
  } else ctx.show(await (await asked(ctx, id, { ...o, format: 'json' })).json(), () => [])
  return EXIT.done
}

/** Writes an export unchanged. `-o` has no effect on it. */
async function exportTo(ctx: Context, prefix: string, o: ShowOptions): Promise<number> {
  const response = await asked(ctx, await documentId(ctx, prefix), o)
  const bytes = new Uint8Array(await response.arrayBuffer())
  if (o.format === 'loro') ctx.io.stdout.write(bytes as never)
  else await ctx.flow(new TextDecoder().decode(bytes))
  return EXIT.done
}

/** Sends an AI envelope from a file. Prints a 409 with its reasons as a result and returns a failure code. */
async function edit(ctx: Context, prefix: string, file: string): Promise<number> {
  const id = await documentId(ctx, prefix, 'write')
  const body = file === '-' ? await readAll(ctx) : readText(file, file, ctx.io.cwd)
  const backend = await ctx.backend('write')
  const query = new URLSearchParams(ctx.by === undefined ? {} : { by: ctx.by })
  const headers = { 'content-type': 'application/json' }
  const url = `http://localhost/v1/documents/${id}/envelopes?${query}`
  const response = await backend.fetch(new Request(url, { method: 'POST', body, headers }))
  if (response.headers.get('content-type')?.includes('problem')) throw await refusal(response)
  const answer = (await response.json()) as Record<string, unknown>
  ctx.show(answer, () => answerLines(answer))
  return response.ok ? EXIT.done : EXIT.failed
}

function answerLines(answer: Record<string, unknown>): string[] {
  if (answer.status === 'applied') return [`applied: the frontier is ${answer.applied_frontier}`]
  const failed = (answer.failed_preconditions ?? []) as { span_id: string; reason: string }[]
  return [
    `${answer.code}: ${answer.message ?? 'the document has changed; read it again'}`,
    ...failed.map(({ span_id, reason }) => `  ${span_id} ${reason}`),
  ]
}

const deedOf = (entry: DocumentEntry): string =>
  [
    entry.kind === 'refused' ? `${entry.status} ${entry.code}` : entry.kind,
    entry.clientRequestId ?? entry.thread ?? '',
    ...(entry.annotations ?? []).flatMap((text) => (text === null ? [] : [`"${text}"`])),
  ]
    .filter((text) => text !== '')
    .join(' ')

async function history(ctx: Context, prefix: string): Promise<number> {
  const id = await documentId(ctx, prefix)
  const client = await ctx.client('read')
  const entries: DocumentEntry[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { limit: '500', ...(after ? { after } : {}) }
    const page: { entries: DocumentEntry[]; next: string | null } = await take(
      client.v1.documents[':id'].history.$get({ param: { id }, query }),
    )
    entries.push(...page.entries)
    after = page.next
  }
  ctx.list(entries, [
    { title: 'REVISION', of: (one) => one.revision, side: 'right' },
    { title: 'TIME', of: (one) => one.at, optional: true },
    { title: 'BY', of: authorOf },
    { title: 'WHAT', of: deedOf, flexible: true },
  ])
  return EXIT.done
}

async function blame(ctx: Context, prefix: string, o: { revision?: number }): Promise<number> {
  const id = await documentId(ctx, prefix)
  const client = await ctx.client('read')
  const query = o.revision === undefined ? {} : { revision: String(o.revision) }
  const found = await take(client.v1.documents[':id'].blame.$get({ param: { id }, query }))
  const sources = new Map(found.sources.map((one) => [one.revision, one]))
  const said = (revision: number | null): string => {
    const source = revision === null ? undefined : sources.get(revision)
    return source === undefined ? 'unknown' : `@${revision} ${authorOf(source)} ${deedOf(source)}`
  }
  ctx.show(found, () =>
    found.spans.flatMap(({ span_id, parts }) => [
      span_id,
      ...parts.map(({ text, revision }) => `  ${JSON.stringify(text)}  ${said(revision)}`),
    ]),
  )
  return EXIT.done
}

async function diff(ctx: Context, prefix: string, a: string, b: string): Promise<number> {
  const id = await documentId(ctx, prefix)
  for (const text of [a, b])
    if (!/^\d+$/.test(text)) throw new UsageError(`"${text}" is no revision; expected a number`)
  const client = await ctx.client('read')
  const found = await take(client.v1.documents[':id'].diff.$get({ param: { id }, query: { a, b } }))
  const lines = (sign: string, text: string | undefined) => (text ?? '').split('\n').map((line) => `${sign} ${line}`)
  ctx.show(found, () =>
    found.changes.flatMap(({ change, moved, span_id, before, after }) => [
      `${moved === true ? 'moved' : change} ${span_id}`,
      ...(before === undefined || before === after ? [] : lines('-', before)),
      ...(after === undefined || before === after ? [] : lines('+', after)),
    ]),
  )
  return EXIT.done
}

/** Commands for documents. */
export function docsCommand(program: Command, kit: Kit): void {
  const docs = program.command('docs').description('documents that people and agents edit together')
  const at = (command: Command) =>
    command
      .option('--revision <n>', 'as it was after this event', whole('--revision'))
      .option('--time <time>', 'as it was then (ISO 8601)')
  docs
    .command('list', { isDefault: true })
    .description('documents, in the order of their creation')
    .action(kit.action((ctx) => list(ctx)))
  docs
    .command('create')
    .description('make a document: empty, or from a file of Markdown or HTML; shows its id')
    .argument('[file]', 'the content; "-": standard input')
    .option('--title <text>', 'its title (default: the name of the file)')
    .option(
      '--format <format>',
      'markdown or html (default: by the name of the file)',
      choice('--format', ['markdown', 'html']),
    )
    .action(kit.action<CreateOptions>((ctx, [file], options) => create(ctx, file, options)))
  at(
    docs
      .command('show')
      .description('a document as Markdown; with -o json its blocks, span ids and hashes')
      .argument('<document>'),
  ).action(kit.action<ShowOptions>((ctx, [id], options) => show(ctx, id!, options)))
  docs
    .command('edit')
    .description('send an AI envelope (JSON) from a file; shows the answer of the gateway')
    .argument('<document>')
    .argument('<file>', '"-": standard input')
    .action(kit.action((ctx, [id, file]) => edit(ctx, id!, file!)))
  docs
    .command('history')
    .description('requests with their answers, and updates of people')
    .argument('<document>')
    .action(kit.action((ctx, [id]) => history(ctx, id!)))
  docs
    .command('blame')
    .description('which person or request wrote each part of each span')
    .argument('<document>')
    .option('--revision <n>', 'as it was after this event', whole('--revision'))
    .action(kit.action<{ revision?: number }>((ctx, [id], options) => blame(ctx, id!, options)))
  docs
    .command('diff')
    .description('the blocks that differ between two revisions')
    .argument('<document>')
    .argument('<a>', 'a revision, as "history" shows it')
    .argument('<b>')
    .action(kit.action((ctx, [id, a, b]) => diff(ctx, id!, a!, b!)))
  discussDocuments(docs, kit, documentId)
  proveDocuments(docs, kit, documentId)
  at(docs.command('export').description('a document on stdout, as a file').argument('<document>'))
    .option('--format <format>', FORMATS.join(', '), choice('--format', FORMATS))
    .action(kit.action<ShowOptions>((ctx, [id], options) => exportTo(ctx, id!, options)))
}
