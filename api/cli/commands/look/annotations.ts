import type { Command } from 'commander'
import type { ErasureCode } from '../../../../domain/stream/erasure.ts'
import { take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import { erasureCode } from '../../ask/erasing.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { type Kit, readAll, whole } from '../kit.ts'

/** Adds tags to a run, or removes them. */
async function changeTags(ctx: Context, run: string, tags: readonly string[], how: 'add' | 'remove'): Promise<number> {
  const id = await ctx.runId(run, 'write')
  const { tags: route } = (await ctx.client('write')).v1.runs[':id']
  const post = how === 'add' ? route.$post : route.remove.$post
  const changed: { runId: string; tag: string; recorded: boolean }[] = []
  for (const tag of tags) {
    const { recorded } = await take(post({ param: { id }, header: {}, json: { tag, by: ctx.by } }))
    changed.push({ runId: id, tag, recorded })
  }
  const verb = how === 'add' ? 'has' : 'does not have'
  ctx.show(changed, () =>
    changed.map(({ tag, recorded }) => `the run ${verb} the tag "${tag}"${recorded ? '' : ', as before'}`),
  )
  return EXIT.done
}

async function addNote(ctx: Context, run: string, words: readonly string[]): Promise<number> {
  const id = await ctx.runId(run, 'write')
  const text = words.join(' ') === '-' ? await readAll(ctx) : words.join(' ')
  const client = await ctx.client('write')
  const json = { text, by: ctx.by }
  const done = await take(client.v1.runs[':id'].notes.$post({ param: { id }, header: {}, json }))
  ctx.show(done, () => [`note ${done.revision} was added`])
  return EXIT.done
}

async function listNotes(ctx: Context, run: string): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const { notes } = await take((await ctx.client('read')).v1.runs[':id'].notes.$get({ param: { id } }))
  ctx.list(notes, [
    { title: 'NOTE', of: (one) => one.note, side: 'right' },
    { title: 'AT', of: (one) => one.at },
    { title: 'BY', of: (one) => one.by },
    { title: 'TEXT', of: (one) => one.text, flexible: true },
  ])
  return EXIT.done
}

interface RemoveOptions {
  readonly erase?: boolean
  readonly code?: ErasureCode
  readonly reason?: string
  readonly yes?: boolean
}

async function removeNote(ctx: Context, run: string, note: string, options: RemoveOptions): Promise<number> {
  const { erase = false, code, reason, yes } = options
  const number = whole('note')(note)
  const id = await ctx.runId(run, 'write')
  if (erase && !(await agreed(ctx, yes, 'Empty its text in the log? Nothing brings it back.', '"runs notes"'))) {
    ctx.note('nothing was removed')
    return EXIT.interrupted
  }
  const client = await ctx.client('write')
  const json = {
    ...{ erase, by: ctx.by },
    // The default code belongs to an erasure alone. keepup refuses another code, and a reason, without one.
    ...(code !== undefined && (erase || code !== 'other') && { code }),
    ...(reason !== undefined && { reason }),
  }
  const param = { id, note: String(number) }
  const done = await take(client.v1.runs[':id'].notes[':note'].remove.$post({ param, header: {}, json }))
  ctx.show(done, () => [`note ${number} was removed${erase ? ' and erased' : ''}`])
  return EXIT.done
}

/** Commands for the tags and notes of runs. `runs`: the group. */
export function annotationCommands(runs: Command, kit: Kit): void {
  runs
    .command('tag')
    .description('add tags to a run, also after it has ended')
    .argument('<run>')
    .argument('<tag...>')
    .action(kit.action((ctx, [run, ...tags]) => changeTags(ctx, run!, tags, 'add')))
  runs
    .command('untag')
    .description('remove tags from a run')
    .argument('<run>')
    .argument('<tag...>')
    .action(kit.action((ctx, [run, ...tags]) => changeTags(ctx, run!, tags, 'remove')))
  runs
    .command('notes')
    .description('the notes on a run')
    .argument('<run>')
    .action(kit.action((ctx, [run]) => listNotes(ctx, run!)))
  runs
    .command('note')
    .description('write a note on a run')
    .argument('<run>')
    .argument('<text...>', '"-": standard input')
    .action(kit.action((ctx, [run, ...words]) => addNote(ctx, run!, words)))
  runs
    .command('unnote')
    .description('remove a note from a run')
    .argument('<run>')
    .argument('<note>', 'its number')
    .option('--erase', 'also empty its text in the log for ever')
    .addOption(erasureCode())
    .option('--reason <text>', 'why it is erased; it is recorded')
    .option('--yes', 'do not ask')
    .action(kit.action<RemoveOptions>((ctx, [run, note], options) => removeNote(ctx, run!, note!, options)))
}
