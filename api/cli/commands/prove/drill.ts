import { constants, existsSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { temporaryFolder } from '../../../../adapters/files/temporary.ts'
import { counted } from '../../../../projections/engine/text.ts'
import { Refused, take } from '../../../http/answers.ts'
import { onServers } from '../../../process/config/settings.ts'
import { paths } from '../../../process/host/paths.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { checkpointLine } from '../../output/proof-text.ts'
import { verifyAll } from '../../verification.ts'
import type { Kit } from '../kit.ts'
import { copyProgress, measured } from '../measured.ts'

/** The comparison of the data folder with the backup. */
interface Since {
  /** Whether the log of the data folder continues the log of the backup. Null: unknown. */
  readonly continues: boolean | null
  /** The events that a restore of the backup would lose. Null: unknown. */
  readonly lost: number | null
  readonly lines: readonly string[]
}

const unknown = (why: string): Since => ({ continues: null, lost: null, lines: [why] })

/** Compares the log of the data folder with the backup. The data folder may be lost or damaged: that is what backups are for. */
async function since(ctx: Context, restored: Context): Promise<Since> {
  const { data } = ctx.config
  const head = await take((await restored.client('read')).v1.proof.head.$get({})).catch((error: unknown) => {
    if (error instanceof Refused && error.code === 'NOT_SIGNED') return null
    throw error
  })
  if (head === null) return unknown('the backup has no signed head, so it is not compared with the data folder')
  const live = ctx.archive(data)
  try {
    const query = { checkpoint: head.checkpoint }
    const { checkpoint, events } = await take((await live.client('read')).v1.proof.verify.$get({ query }))
    const held = checkpoint === undefined ? [] : [checkpointLine(checkpoint)]
    if (checkpoint?.ok !== true) {
      const why = `the log of ${data} does NOT continue this backup: it lost its end, was changed, or is another one`
      return {
        continues: false,
        lost: null,
        lines: [...held, `${why}; keep the backup, and see "${ctx.command('verify')}"`],
      }
    }
    const lost = events - head.size
    const all = `${data} has no event that the backup lacks`
    const line = lost === 0 ? all : `a restore of this backup would lose ${counted(lost, 'event')} of ${data}`
    return { continues: true, lost, lines: [...held, line] }
  } catch (error) {
    return unknown(
      `${data} cannot be compared with the backup: ${error instanceof Error ? error.message : String(error)}`,
    )
  } finally {
    await live.leave()
  }
}

/** Restores a backup into a temporary folder, reads and verifies all of it, and removes the copy. */
async function drill(ctx: Context, from: string): Promise<number> {
  if (onServers(ctx.config))
    throw new CliError('a drill restores the backup of a data folder; servers have their own backups', EXIT.usage)
  const backup = resolve(ctx.io.cwd, from)
  if (!existsSync(paths(backup).log))
    throw new UsageError(
      `${backup} is no backup, for it has no log; name a folder that "${ctx.command('backup')}" wrote`,
    )
  const scratch = temporaryFolder('drill')
  const restored = ctx.archive(scratch.path)
  // The report is written through this context too.
  restored.progress = ctx.progress
  try {
    const began = performance.now()
    const options = { recursive: true, mode: constants.COPYFILE_FICLONE, preserveTimestamps: true }
    await measured(ctx, copyProgress([backup], scratch.path), cp(backup, scratch.path, options))
    const copied = performance.now()
    await restored.backend('read')
    const opened = performance.now()
    const ok = await verifyAll(restored, { anchors: false })
    const verified = performance.now()
    const { continues, lost, lines } = await since(ctx, restored)
    const times = {
      copyMs: Math.round(copied - began),
      openMs: Math.round(opened - copied),
      verifyMs: Math.round(verified - opened),
    }
    ctx.show({ ok, backup, ...times, continues, lost }, () => [
      ...lines,
      `copied in ${seconds(times.copyMs)}, opened with new tables in ${seconds(times.openMs)}, verified in ${seconds(times.verifyMs)}`,
      ok ? `${backup} can be restored` : `${backup} is damaged and must not be relied on; make another backup now`,
    ])
    return ok && continues !== false ? EXIT.done : EXIT.verification
  } finally {
    await restored.leave()
    scratch.remove()
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
