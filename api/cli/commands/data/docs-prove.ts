import type { Command } from 'commander'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import { erasureCode } from '../../ask/erasing.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { covered, erasedLine } from '../../output/proof-text.ts'
import { concluded, contradiction, headLines } from '../../verification.ts'
import { type Kit, whole } from '../kit.ts'

export type FindDocument = (ctx: Context, prefix: string, need?: 'read' | 'write') => Promise<string>

async function verify(ctx: Context, id: string): Promise<number> {
  const client = await ctx.client('read')
  const proof = await take(client.v1.documents[':id'].verify.$get({ param: { id } }))
  ctx.show(proof, () => [
    proof.ok ? 'holds' : 'BROKEN',
    `  ${counted(proof.events, 'event')} (${covered(proof.proof)}), ${proof.digests} states folded again and equal`,
    `  the updates lead to the frontier ${proof.frontier || '(empty)'}`,
    ...headLines(proof),
    ...proof.erased.map(erasedLine),
    ...proof.problems.map((one) => `  revision ${one.revision} ${one.code}: ${one.message}`),
  ])
  return concluded(ctx, { ok: proof.ok, contradicted: contradiction([proof]) })
}

interface EraseOptions {
  revision: number
  code: ErasureCode
  reason: string
  yes?: boolean
}

async function erase(ctx: Context, id: string, { revision, code, reason, yes }: EraseOptions): Promise<number> {
  ctx.note(
    `This empties the request or comment at revision ${revision} of ${id} for ever. Words in the text stay in the document.`,
  )
  if (!(await agreed(ctx, yes, 'Empty it? Nothing brings it back.', '"docs history"'))) {
    ctx.note('nothing was erased')
    return EXIT.interrupted
  }
  const client = await ctx.client('write')
  const json = { revision, code, reason, by: ctx.by }
  const done = await take(client.v1.documents[':id'].erase.$post({ param: { id }, header: {}, json }))
  ctx.show(done, () => [done.recorded ? `erased; recorded at revision ${done.revision}` : 'it was erased before'])
  return EXIT.done
}

/** Commands that verify a document and erase parts of it. */
export function proveDocuments(docs: Command, kit: Kit, find: FindDocument): void {
  docs
    .command('verify')
    .description('check the chain, the bodies and the digests, and replay the updates to the recorded frontier')
    .argument('<document>')
    .action(kit.action(async (ctx, [id]) => verify(ctx, await find(ctx, id!))))
  docs
    .command('erase')
    .description(
      'empty a request or a comment for ever; replies and reasons are revisions of their own; the text stays',
    )
    .argument('<document>')
    .requiredOption(
      '--revision <n>',
      'of the request, its answer, the comment, reply or refusal, as "history" shows it',
      whole('--revision'),
    )
    .requiredOption('--reason <text>', 'why; it is recorded')
    .addOption(erasureCode())
    .option('--yes', 'do not ask')
    .action(kit.action<EraseOptions>(async (ctx, [id], options) => erase(ctx, await find(ctx, id!, 'write'), options)))
}
