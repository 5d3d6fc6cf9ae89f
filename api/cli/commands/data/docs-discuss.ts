import type { Command } from 'commander'
import { asOne, take } from '../../../http/answers.ts'
import type { DocumentComment, DocumentComments } from '../../../operations/document/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { authorOf } from '../../output/document-author.ts'
import { type Kit, whole } from '../kit.ts'
import type { FindDocument } from './docs-prove.ts'

interface QuoteOptions {
  quote?: string
  start?: number
  reason?: string
}

const quotedOf = (span_id: string, { quote, start }: QuoteOptions) => ({
  span_id,
  ...(quote === undefined ? {} : { quote }),
  ...(start === undefined ? {} : { start }),
})

async function commentsOf(ctx: Context, id: string, status: 'open' | 'all', need: 'read' | 'write' = 'read') {
  const client = await ctx.client(need)
  const comments: DocumentComment[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { status, limit: '500', ...(after ? { after } : {}) }
    const page: DocumentComments = await take(client.v1.documents[':id'].comments.$get({ param: { id }, query }))
    comments.push(...page.comments)
    after = page.next
  }
  return comments
}

/** The longest id, that of a request with a key: no other id begins with it. */
const WHOLE_ID = /^[0-9a-f]{32}$/

/** Finds a comment or suggestion by a prefix of its id. Throws a UsageError if the prefix matches none or several. */
async function commentId(ctx: Context, id: string, prefix: string): Promise<string> {
  if (WHOLE_ID.test(prefix)) return prefix
  const comments = await commentsOf(ctx, id, 'all', 'write')
  const found = comments.filter((one) => one.id.startsWith(prefix))
  if (found.length === 1) return found[0]!.id
  const what = found.length > 1 ? `"${prefix}" is not unique` : `the document has no comment "${prefix}"`
  throw new UsageError(`${what}; see "${ctx.command('docs', 'comments', id)}"`)
}

async function list(ctx: Context, id: string, { all }: { all?: boolean }): Promise<number> {
  const comments = await commentsOf(ctx, id, all === true ? 'all' : 'open')
  ctx.list(comments, [
    { title: 'ID', of: (one) => one.id },
    { title: 'STATUS', of: (one) => (one.outdated ? 'outdated' : one.status) },
    { title: 'BY', of: authorOf },
    { title: 'TIME', of: (one) => one.at, optional: true },
    { title: 'SPAN', of: (one) => one.span_id, optional: true },
    { title: 'WHAT', of: whatOf, flexible: true },
  ])
  return EXIT.done
}

const said = (text: string | null | undefined): string => (text === null ? '(erased)' : JSON.stringify(text ?? ''))

function whatOf({ kind, quote, text, replacement, reason, replies }: DocumentComment): string {
  const what =
    kind === 'comment'
      ? `on ${said(quote)}: ${said(text)}`
      : `${said(quote)} → ${said(replacement)}${reason ? ` (${reason})` : ''}`
  return replies.length === 0 ? what : `${what} [${replies.length} replies]`
}

async function comment(ctx: Context, id: string, span: string, text: string, o: QuoteOptions): Promise<number> {
  const client = await ctx.client('write')
  const json = { ...quotedOf(span, o), text, by: ctx.by }
  const made = await take(client.v1.documents[':id'].comments.$post({ param: { id }, header: asOne(), json }))
  ctx.show(made, () => [made.id])
  return EXIT.done
}

async function suggest(ctx: Context, id: string, span: string, replacement: string, o: QuoteOptions): Promise<number> {
  const client = await ctx.client('write')
  const reason = o.reason === undefined ? {} : { reason: o.reason }
  const json = { ...quotedOf(span, o), replacement, ...reason, by: ctx.by }
  const made = await take(client.v1.documents[':id'].suggestions.$post({ param: { id }, header: asOne(), json }))
  ctx.show(made, () => [made.id])
  return EXIT.done
}

async function reply(ctx: Context, id: string, prefix: string, text: string): Promise<number> {
  const param = { id, comment: await commentId(ctx, id, prefix) }
  const client = await ctx.client('write')
  const json = { text, by: ctx.by }
  const done = await take(
    client.v1.documents[':id'].comments[':comment'].replies.$post({ param, header: asOne(), json }),
  )
  ctx.show(done, () => [`recorded at revision ${done.revision}`])
  return EXIT.done
}

async function resolve(ctx: Context, id: string, prefix: string): Promise<number> {
  const param = { id, comment: await commentId(ctx, id, prefix) }
  const client = await ctx.client('write')
  const json = { by: ctx.by }
  const done = await take(client.v1.documents[':id'].comments[':comment'].resolve.$post({ param, header: {}, json }))
  ctx.show(done, () => [`resolved at revision ${done.revision}`])
  return EXIT.done
}

async function accept(ctx: Context, id: string, prefix: string): Promise<number> {
  const param = { id, suggestion: await commentId(ctx, id, prefix) }
  const client = await ctx.client('write')
  const { suggestions } = client.v1.documents[':id']
  const done = await take(suggestions[':suggestion'].accept.$post({ param, header: {}, json: { by: ctx.by } }))
  ctx.show(done, () => [`applied at revision ${done.revision}`])
  return EXIT.done
}

async function refuse(ctx: Context, id: string, prefix: string, reason: string): Promise<number> {
  const param = { id, suggestion: await commentId(ctx, id, prefix) }
  const client = await ctx.client('write')
  const { suggestions } = client.v1.documents[':id']
  const done = await take(suggestions[':suggestion'].refuse.$post({ param, header: {}, json: { reason, by: ctx.by } }))
  ctx.show(done, () => [`refused at revision ${done.revision}; the text stays`])
  return EXIT.done
}

/** Commands for comments and suggestions. */
export function discussDocuments(docs: Command, kit: Kit, find: FindDocument): void {
  const quoting = (command: Command) =>
    command
      .option('--quote <text>', 'the text that is meant, exactly (default: the whole text of the span)')
      .option(
        '--start <n>',
        'where the quote begins, in UTF-16 units, if it stands there several times',
        whole('--start'),
      )
  docs
    .command('comments')
    .description('open comments and suggestions, with who made them')
    .argument('<document>')
    .option('--all', 'also those that are settled')
    .action(kit.action<{ all?: boolean }>(async (ctx, [id], options) => list(ctx, await find(ctx, id!), options)))
  quoting(
    docs
      .command('comment')
      .description('comment on a text; shows the id of the comment')
      .argument('<document>')
      .argument('<span>', 'a span id, as "show -o json" shows it')
      .argument('<text>'),
  ).action(
    kit.action<QuoteOptions>(async (ctx, [id, span, text], options) =>
      comment(ctx, await find(ctx, id!, 'write'), span!, text!, options),
    ),
  )
  quoting(
    docs
      .command('suggest')
      .description('suggest another text; nothing changes until a person accepts it')
      .argument('<document>')
      .argument('<span>', 'a span id, as "show -o json" shows it')
      .argument('<replacement>', 'the text in its place; "": delete the quote'),
  )
    .option('--reason <text>', 'why')
    .action(
      kit.action<QuoteOptions>(async (ctx, [id, span, text], options) =>
        suggest(ctx, await find(ctx, id!, 'write'), span!, text!, options),
      ),
    )
  docs
    .command('reply')
    .description('reply to an open comment or suggestion')
    .argument('<document>')
    .argument('<comment>')
    .argument('<text>')
    .action(kit.action(async (ctx, [id, one, text]) => reply(ctx, await find(ctx, id!, 'write'), one!, text!)))
  docs
    .command('resolve')
    .description('resolve a comment')
    .argument('<document>')
    .argument('<comment>')
    .action(kit.action(async (ctx, [id, one]) => resolve(ctx, await find(ctx, id!, 'write'), one!)))
  docs
    .command('accept')
    .description('make a suggested change; refused if the text has changed since')
    .argument('<document>')
    .argument('<suggestion>')
    .action(kit.action(async (ctx, [id, one]) => accept(ctx, await find(ctx, id!, 'write'), one!)))
  docs
    .command('refuse')
    .description('refuse a suggestion; the text stays')
    .argument('<document>')
    .argument('<suggestion>')
    .requiredOption('--reason <text>', 'why; it is recorded')
    .action(
      kit.action<{ reason: string }>(async (ctx, [id, one], { reason }) =>
        refuse(ctx, await find(ctx, id!, 'write'), one!, reason),
      ),
    )
}
