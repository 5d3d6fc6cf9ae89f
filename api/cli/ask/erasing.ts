import { Option } from 'commander'
import type { z } from 'zod'
import { ErasureCode } from '../../../domain/stream/erasure.ts'
import { counted } from '../../../projections/engine/text.ts'
import { asOne, take } from '../../http/answers.ts'
import type { EraseBody, Erased } from '../../operations/runs/schemas.ts'
import type { Context } from '../context.ts'
import { EXIT } from '../exit.ts'
import { bytes } from '../output/units.ts'
import { agreed } from './choose.ts'

const SHOWN = 200

/** The option of each command that erases. */
export const erasureCode = () =>
  new Option('--code <code>', 'the kind of reason, recorded with it').choices(ErasureCode.options).default('other')
const NOTHING = 'nothing was left to erase'

/** Names the copies that an erasure of events does not reach. `folder`: the data folder, if known. */
export const filesStay = (folder = 'the data folder'): string =>
  `Not erased: the workspace itself, the versions of its files, and backups. Versions go all at once: stop keepup, then
delete versions.git and versions-index in ${folder}; what is restored or forked afterwards has no files.`

interface Erasing {
  readonly runId: string
  /** The requested erasure, without `dryRun`. */
  readonly json: Omit<z.input<typeof EraseBody>, 'dryRun'>
  readonly dryRun: boolean | undefined
  readonly yes: boolean | undefined
}

/** Lists the run's saved facts, which the erasure does not remove, and the commands that erase them. */
function noteFacts(ctx: Context, { facts = [] }: z.output<typeof Erased>): void {
  if (facts.length === 0) return
  ctx.note(`Not erased: ${counted(facts.length, 'fact')} that the run saved with "remember". To erase each:`)
  for (const id of facts.slice(0, SHOWN)) ctx.note(`  ${ctx.command('memory', 'forget', id, '--erase')}`)
}

/** The bodies that the erasure would empty, as lines. */
function doomedLines({ agentId: first, bodies = [], annotations = 0 }: z.output<typeof Erased>): string[] {
  const sum = bodies.reduce((all, { size }) => all + size, 0)
  return [
    `${bodies.length} ${bodies.length === 1 ? 'body' : 'bodies'} of ${first}, ${bytes(sum)}:`,
    ...bodies
      .slice(0, SHOWN)
      .map((b) => `  ${b.agentId === first ? '' : b.agentId}@${b.revision} turn ${b.turn} ${b.type}, ${bytes(b.size)}`),
    ...(bodies.length > SHOWN ? [`  … and ${bodies.length - SHOWN} more`] : []),
    ...(annotations > 0 ? [`and ${counted(annotations, 'text')} of the run's tags and notes`] : []),
  ]
}

/** Shows the bodies to erase. Unless `dryRun`, asks for confirmation and erases them. Returns the exit code. */
export async function askToErase(ctx: Context, { runId, json, dryRun, yes }: Erasing): Promise<number> {
  const client = await ctx.client('write')
  const ask = (header: { 'if-match'?: string }, dry: boolean) =>
    take(
      client.v1.runs[':id'].erase.$post({
        param: { id: runId },
        header: { ...asOne(), ...header },
        json: { ...json, dryRun: dry },
      }),
    )
  const found = await ask({}, true)
  const doomed = doomedLines(found)
  const nothing = found.bodies?.length === 0 && (found.annotations ?? 0) === 0
  if (dryRun) {
    ctx.show(found, () => (nothing ? [NOTHING] : ['This would empty', ...doomed]))
    ctx.note(filesStay(ctx.config.data))
    noteFacts(ctx, found)
    return EXIT.done
  }
  // If no body is left, repeat the erasure without a question.
  if (!nothing) {
    ctx.note('This empties for ever:')
    for (const line of doomed) ctx.note(line)
    ctx.note(filesStay(ctx.config.data))
    noteFacts(ctx, found)
    if (!(await agreed(ctx, yes, 'Empty them? Nothing brings them back.'))) {
      ctx.note('nothing was erased')
      return EXIT.interrupted
    }
  }
  // Erase only the revision that the person has seen.
  const done = await ask({ 'if-match': `"${found.revision}"` }, false)
  ctx.show(done, () => [nothing ? NOTHING : `erased; recorded up to revision ${done.revision}`])
  return EXIT.done
}
