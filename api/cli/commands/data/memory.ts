import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import type { MemoryScope } from '../../../../domain/calls/memory/request.ts'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import type { Memory, MemoryList } from '../../../operations/memory/schemas.ts'
import { agreed } from '../../ask/choose.ts'
import { erasureCode } from '../../ask/erasing.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { covered, erasedLine } from '../../output/proof-text.ts'
import { concluded, contradiction, headLines } from '../../verification.ts'
import { type Kit, readAll } from '../kit.ts'

interface ListOptions {
  run?: string
  workspace?: string
  global?: boolean
  query?: string
  forgotten?: boolean
}

type Where = { scope?: MemoryScope; place?: string }

/** The place named by the options. Without options: every place. */
async function whereOf(ctx: Context, { run, workspace, global }: ListOptions): Promise<Where> {
  if ([run, workspace, global].filter((one) => one !== undefined).length > 1)
    throw new UsageError('name one place: --run, --workspace or --global')
  if (global === true) return { scope: 'global' }
  if (run !== undefined) return { scope: 'run', place: run }
  if (workspace === undefined) return {}
  const path = resolve(ctx.io.cwd, workspace)
  return { scope: 'workspace', place: await realpath(path).catch(() => path) }
}

async function all(ctx: Context, o: ListOptions): Promise<Memory[]> {
  const client = await ctx.client('read')
  const which = { ...(await whereOf(ctx, o)), limit: '500' }
  const wanted = o.query === undefined ? (o.forgotten === true ? { forgotten: 'true' as const } : {}) : { q: o.query }
  const found: Memory[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const query = { ...which, ...wanted, ...(after ? { after } : {}) }
    const page: MemoryList = await take(client.v1.memories.$get({ query }))
    found.push(...page.memories)
    after = page.next
  }
  return found
}

async function list(ctx: Context, o: ListOptions): Promise<number> {
  ctx.list(await all(ctx, o), [
    { title: 'MEMORY', of: (one) => one.id },
    { title: 'CHANGED', of: (one) => one.updatedAt, optional: true },
    { title: 'BY', of: (one) => one.updatedBy, optional: true },
    { title: 'TEXT', of: (one) => one.text ?? '(forgotten)', flexible: true },
  ])
  return EXIT.done
}

async function show(ctx: Context, id: string): Promise<number> {
  const client = await ctx.client('read')
  const found = await take(client.v1.memories[':id'].$get({ param: { id } }))
  const { memory, changes } = found
  ctx.show(found, () => [
    memory.text ?? '(forgotten)',
    '',
    `${memory.scope}${memory.place === '' ? '' : ` ${memory.place}`}`,
    ...changes.map(
      ({ revision, type, at, by, toolCallId, text }) =>
        `@${revision} ${at} ${type} by ${toolCallId ?? by}${text === null ? '' : `: ${JSON.stringify(text)}`}`,
    ),
  ])
  return EXIT.done
}

async function correct(ctx: Context, id: string, words: readonly string[]): Promise<number> {
  const text = words.join(' ') === '-' ? await readAll(ctx) : words.join(' ')
  const client = await ctx.client('write')
  const json = { text, by: ctx.by }
  const done = await take(client.v1.memories[':id'].correct.$post({ param: { id }, header: {}, json }))
  ctx.show(done, () => [`corrected; recorded at revision ${done.revision}`])
  return EXIT.done
}

interface ForgetOptions {
  reason?: string
  erase?: boolean
  code?: ErasureCode
  yes?: boolean
}

async function forget(ctx: Context, id: string, options: ForgetOptions): Promise<number> {
  const { reason, erase = false, code, yes } = options
  if (erase && !(await agreed(ctx, yes, 'Empty its words in the log? Nothing brings them back.', '"memory show"'))) {
    ctx.note('nothing was forgotten')
    return EXIT.interrupted
  }
  const client = await ctx.client('write')
  const json = {
    erase,
    ...(erase && code !== undefined && { code }),
    by: ctx.by,
    ...(reason === undefined ? {} : { reason }),
  }
  const done = await take(client.v1.memories[':id'].forget.$post({ param: { id }, header: {}, json }))
  const what = erase ? 'forgotten and erased' : 'forgotten'
  ctx.show(done, () => [done.recorded ? `${what}; recorded at revision ${done.revision}` : `it was ${what} before`])
  return EXIT.done
}

async function verify(ctx: Context, id: string): Promise<number> {
  const client = await ctx.client('read')
  const proof = await take(client.v1.memories[':id'].verify.$get({ param: { id } }))
  ctx.show(proof, () => [
    proof.ok ? 'holds' : 'BROKEN',
    `  ${counted(proof.events, 'event')} (${covered(proof.proof)}), ${proof.digests} states folded again and equal`,
    ...headLines(proof),
    ...proof.erased.map(erasedLine),
    ...proof.problems.map((one) => `  revision ${one.revision} ${one.code}: ${one.message}`),
  ])
  return concluded(ctx, { ok: proof.ok, contradicted: contradiction([proof]) })
}

/** Commands for the facts that agents save. */
export function memoryCommand(program: Command, kit: Kit): void {
  const memory = program.command('memory').description('facts that agents have saved for later runs')
  memory
    .command('list', { isDefault: true })
    .description('facts, the latest first; with --query the best matches first')
    .option('--run <run>', 'those of a run')
    .option('--workspace <folder>', 'those of a workspace')
    .option('--global', 'those of all runs')
    .option('--query <words>', 'that have these words')
    .option('--forgotten', 'also those that were forgotten')
    .action(kit.action<ListOptions>((ctx, _, options) => list(ctx, options)))
  memory
    .command('show')
    .description('a fact with all its changes')
    .argument('<memory>')
    .action(kit.action((ctx, [id]) => show(ctx, id!)))
  memory
    .command('correct')
    .description('replace the text of a fact; the log keeps the previous text')
    .argument('<memory>')
    .argument('<text...>', '"-": standard input')
    .action(kit.action((ctx, [id, ...words]) => correct(ctx, id!, words)))
  memory
    .command('forget')
    .description('forget a fact: no agent finds it any more')
    .argument('<memory>')
    .option('--reason <text>', 'why; it is recorded')
    .option('--erase', 'also empty its words in the log for ever')
    .addOption(erasureCode())
    .option('--yes', 'do not ask')
    .action(kit.action<ForgetOptions>((ctx, [id], options) => forget(ctx, id!, options)))
  memory
    .command('verify')
    .description('check the chain, the bodies and the digests of a fact')
    .argument('<memory>')
    .action(kit.action((ctx, [id]) => verify(ctx, id!)))
}
