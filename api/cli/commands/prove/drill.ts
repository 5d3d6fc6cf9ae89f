import { constants, statSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import { counted } from '../../../../projections/engine/text.ts'
import { Refused, take } from '../../../http/answers.ts'
import { onServers } from '../../../process/config/settings.ts'
import { OwnerError } from '../../../process/owner/backend.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { checkpointLine } from '../../output/proof-text.ts'
import { verifyAll } from '../../verification.ts'
import type { Kit } from '../kit.ts'

/** How far the data folder has gone on since the backup. */
interface Since {
  /** Whether the log of the data folder continues the log of the backup. Null: the backup has no signed head. */
  readonly continues: boolean | null
  /** The events that a restore of the backup would lose. Null: the two logs differ. */
  readonly lost: number | null
  readonly lines: readonly string[]
}

/** Compares the log of the data folder with the backup. Null: there is no data folder, as after its loss. */
async function since(ctx: Context, restored: Context): Promise<Since | null> {
  const head = await take((await restored.client('read')).v1.proof.head.$get({})).catch((error: unknown) => {
    if (error instanceof Refused) return null
    throw error
  })
  const client = await ctx.client('read').catch((error: unknown) => {
    if (error instanceof OwnerError && error.code === 'NOTHING_YET') return null
    throw error
  })
  if (client === null) return null
  if (head === null) return { continues: null, lost: null, lines: ['the backup has no signed head to compare with'] }
  const { checkpoint, events } = await take(client.v1.proof.verify.$get({ query: { checkpoint: head.checkpoint } }))
  const continues = checkpoint?.ok === true
  const lost = continues ? events - head.size : null
  const difference =
    lost === null
      ? `the log of ${ctx.config.data} does NOT continue this backup: one of them was replaced or changed`
      : lost === 0
        ? `${ctx.config.data} has no event that the backup lacks`
        : `a restore of this backup would lose ${counted(lost, 'event')} of ${ctx.config.data}`
  return { continues, lost, lines: [...(checkpoint === undefined ? [] : [checkpointLine(checkpoint)]), difference] }
}

/** Restores a backup into a temporary folder, reads and verifies all of it, and removes the copy. */
async function drill(ctx: Context, from: string): Promise<number> {
  if (onServers(ctx.config))
    throw new CliError('a drill restores the backup of a data folder; servers have their own backups', EXIT.usage)
  const backup = resolve(ctx.io.cwd, from)
  if (!statSync(backup, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${backup} is no folder; name one that "${ctx.command('backup')}" has written`)
  const scratch = await mkdtemp(join(tmpdir(), 'keepup-drill-'))
  const restored = ctx.archive(scratch)
  try {
    const began = performance.now()
    await cp(backup, scratch, { recursive: true, mode: constants.COPYFILE_FICLONE, preserveTimestamps: true })
    const copied = performance.now()
    await restored.backend('read')
    const opened = performance.now()
    const ok = await verifyAll(restored, { anchors: false })
    const verified = performance.now()
    const later = await since(ctx, restored)
    const times = {
      copyMs: Math.round(copied - began),
      openMs: Math.round(opened - copied),
      verifyMs: Math.round(verified - opened),
    }
    const sound = ok && later?.continues !== false
    ctx.show({ ok: sound, backup, ...times, continues: later?.continues ?? null, lost: later?.lost ?? null }, () => [
      ...(later?.lines ?? [`there is nothing in ${ctx.config.data} to compare with`]),
      `copied in ${seconds(times.copyMs)}, opened with new tables in ${seconds(times.openMs)}, verified in ${seconds(times.verifyMs)}`,
      sound ? `${backup} can be restored` : `${backup} must not be relied on; make another backup now`,
    ])
    return sound ? EXIT.done : EXIT.verification
  } finally {
    await restored.leave()
    await rm(scratch, { recursive: true, force: true })
  }
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`

export function drillCommand(program: Command, kit: Kit): void {
  program
    .command('drill')
    .description('restore a backup into a temporary folder, verify all of it, and say what a restore would lose')
    .argument('<folder>', 'a backup')
    .action(kit.action((ctx, [from]) => drill(ctx, from!)))
}
