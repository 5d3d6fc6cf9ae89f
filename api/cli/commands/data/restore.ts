import type { Command } from 'commander'
import { counted } from '../../../../projections/engine/text.ts'
import { take } from '../../../http/answers.ts'
import { agreed } from '../../ask/choose.ts'
import type { Context } from '../../context.ts'
import { EXIT, UsageError } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import { type Kit, whole } from '../kit.ts'

interface RestoreOptions {
  tree?: string
  dryRun?: boolean
  yes?: boolean
  reason?: string
}

type Change = { path: string; change: 'added' | 'modified' | 'deleted' }

const SHOWN = 200
const KINDS = [
  { kind: 'added', sign: '+', told: 'added' },
  { kind: 'modified', sign: '~', told: 'modified' },
  { kind: 'deleted', sign: '-', told: 'deleted (that version does not know them)' },
] as const

/** The changes of a restore, counted and listed by kind. */
function changeLines(changes: readonly Change[]): string[] {
  return KINDS.flatMap(({ kind, sign, told }) => {
    const paths = changes.filter((c) => c.change === kind).map((c) => c.path)
    if (paths.length === 0) return []
    const more = paths.length > SHOWN ? [`  … and ${paths.length - SHOWN} more`] : []
    return [
      `${counted(paths.length, 'file')} ${told}:`,
      ...paths.slice(0, SHOWN).map((p) => `  ${sign} ${oneLine(p)}`),
      ...more,
    ]
  })
}

async function restore(ctx: Context, run: string, text: string | undefined, o: RestoreOptions): Promise<number> {
  if ((text === undefined) === (o.tree === undefined)) throw new UsageError('give either a step or --tree <id>')
  const version = text === undefined ? { tree: o.tree! } : { step: whole('step')(text) }
  const id = await ctx.runId(run, 'write')
  const client = await ctx.client('write')
  const ask = (more: { dryRun: boolean; expected?: string }) =>
    take(
      client.v1.runs[':id'].restore.$post({
        param: { id },
        json: { ...version, ...more, by: ctx.by, ...(o.reason === undefined ? {} : { reason: o.reason }) },
      }),
    )
  const found = await ask({ dryRun: true })
  const changes = [...found.changes]
  if (changes.length === 0) {
    ctx.show(found, () => ['nothing to change: the files are those of that version'])
    return EXIT.done
  }
  if (o.dryRun) {
    ctx.show(found, () => ['This would change:', ...changeLines(changes)])
    return EXIT.done
  }
  ctx.note('This changes:')
  for (const line of changeLines(changes)) ctx.note(line)
  ctx.note('All files as they are now are kept first, the ignored ones aside, which are not touched.')
  if (!(await agreed(ctx, o.yes, 'Change these files?'))) {
    ctx.note('nothing was changed')
    return EXIT.interrupted
  }
  const done = await ask({ dryRun: false, expected: found.replaced })
  ctx.show(done, () => [`restored ${counted(changes.length, 'file')}; what was there before is tree ${done.replaced}`])
  ctx.note(`to bring it back: ${ctx.command('restore', id, '--tree', done.replaced)}`)
  return EXIT.done
}

export function restoreCommand(program: Command, kit: Kit): void {
  program
    .command('restore')
    .description('put the files of a step back: shows what changes and asks first; what it replaces is kept')
    .argument('<run>')
    .argument('[step]', 'a step; 0: before the run')
    .option('--tree <id>', 'the files that an earlier restore kept, in place of a step')
    .option('--dry-run', 'only show what would change')
    .option('--reason <text>', 'recorded with the restore')
    .option('--yes', 'do not ask; needed where there is no terminal')
    .action(kit.action<RestoreOptions>((ctx, [run, step], options) => restore(ctx, run!, step, options)))
}
