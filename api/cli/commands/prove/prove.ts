import { existsSync, readFileSync, statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { Command } from 'commander'
import { keyPlaceOf } from '../../../../adapters/vault/keys.ts'
import { counted } from '../../../../projections/engine/text.ts'
import type { RebuildOptions } from '../../../../projections/index.ts'
import { asOne, take } from '../../../http/answers.ts'
import { NoExport } from '../../../operations/events/export-lines.ts'
import { type VerifiedExport, verifyExport } from '../../../operations/events/verify-export.ts'
import { onServers } from '../../../process/config/settings.ts'
import { paths } from '../../../process/host/paths.ts'
import { vaultKeys } from '../../../process/host/vault-keys.ts'
import { nextLines } from '../../ask/question-lines.ts'
import type { Context } from '../../context.ts'
import { CliError, EXIT, UsageError } from '../../exit.ts'
import { driveToEnd, FROM_BIRTH, resuming } from '../../follow/drive.ts'
import { linesOf } from '../../output/body-lines.ts'
import { bytes } from '../../output/units.ts'
import { concluded, damage, verifyAll, verifyOneRun } from '../../verification.ts'
import { type Kit, modelId, moneyOption, some, whole } from '../kit.ts'
import { pointQuery } from '../look/history.ts'
import { copyProgress, measured } from '../measured.ts'
import { withProgress } from '../read-file.ts'

/** The result of a rebuild as text. Null: there were no tables to compare with. */
const COMPARED = {
  true: 'the tables are equal',
  false: 'the tables are NOT equal',
  null: 'the tables were made anew; there was nothing to compare them with',
} as const

/** The files and folders of the data folder that a backup contains. */
function copiedParts(data: string): string[] {
  const { log, blobs, versions, vault } = paths(data)
  return [log, blobs, versions, vault]
}

/** Rebuilds the tables. On servers without the API, so that tables that do not open can be rebuilt too. */
async function rebuilt(ctx: Context, wishes: RebuildOptions) {
  if (onServers(ctx.config)) {
    const [{ rebuildOnServers }, { rebuildRow }] = await Promise.all([
      import('../../../process/servers/rebuild.ts'),
      import('../../../process/tables/row-views.ts'),
    ])
    return rebuildRow(await rebuildOnServers(ctx.config, wishes, (text) => ctx.note(text)))
  }
  const { accept = false, takeOver = false } = wishes
  if (takeOver) throw new UsageError('--take-over is for servers; embedded tables belong to the log in their folder')
  const client = await ctx.client('write')
  const far = async () => {
    const { rebuilding } = await take(client.v1.projections.$get({}))
    return rebuilding && { done: rebuilding.events, total: rebuilding.of, unit: 'events' }
  }
  return measured(ctx, far, take(client.v1.projections.rebuild.$post({ json: { accept } })))
}

function erasedText({ erased, erasedBy }: VerifiedExport): string {
  const codes = Object.entries(erasedBy).map(([code, count]) => `${code}: ${count}`)
  return erased === 0 ? '' : `, ${erased} erased (${codes.join(', ')})`
}

async function verifyFile(ctx: Context, path: string) {
  const there = statSync(path, { throwIfNoEntry: false })
  if (there === undefined) throw new UsageError(`there is no file ${path}`)
  if (!there.isFile()) throw new UsageError(`${path} is no regular file; name one that "export" has written`)
  try {
    return await verifyExport(linesOf(ReadableStream.from(withProgress(ctx, path))))
  } catch (error) {
    const told = `${path}: ${(error as Error).message}`
    // A file that starts like an export and continues differently is damaged. Any other file is a wrong argument.
    if (error instanceof NoExport) throw error.line > 1 ? new CliError(told, EXIT.verification) : new UsageError(told)
    throw (error as NodeJS.ErrnoException).syscall === undefined ? error : new CliError(told)
  }
}

interface VerifyFlags {
  file?: string
  agent?: string
  anchors?: true
  checkpoint?: string
  vkey?: string
}

function checkpointIn(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${path} cannot be read (${(error as Error).message}); name a file with a checkpoint`)
  }
}

/** The commands `verify`, `fork`, `rebuild` and `backup`. */
export function proveCommands(program: Command, kit: Kit): void {
  program
    .command('verify')
    .description(
      'check chains, bodies, digests and rows of a run, of everything that is stored, or of an exported file',
    )
    .argument('[run]')
    .option('--file <path>', 'an export; needs no data folder')
    .option('--agent <id>', 'only this agent of the run')
    .option('--anchors', 'also ask the anchors which heads they keep now')
    .option('--checkpoint <path>', 'a signed head of this log that you kept: the log must continue it')
    .option('--vkey <key>', 'a verifier key of this log that you kept: the log must have signed with it')
    .action(
      kit.action<VerifyFlags>(async (ctx, [run], { file, agent, anchors, checkpoint, vkey }) => {
        if ((anchors ?? checkpoint ?? vkey) !== undefined && (run ?? file) !== undefined)
          throw new UsageError(
            '--anchors, --checkpoint, --vkey: these are about the whole log; name no run and no file',
          )
        if (agent !== undefined && run === undefined) throw new UsageError('--agent: name the run too')
        if (file !== undefined) {
          const found = await verifyFile(ctx, resolve(ctx.io.cwd, file))
          ctx.show(found, () => [
            `${found.runId.startsWith('context-') ? 'stream' : 'run'} ${found.runId}: ${found.ok ? 'holds' : 'BROKEN'}, ${counted(found.events, 'event')}${erasedText(found)}`,
            ...found.problems.map((p) => `  ${p.stream} revision ${p.revision} ${p.code}: ${p.message}`),
          ])
          return found.ok ? EXIT.done : EXIT.verification
        }
        await ctx.backend('read').catch((error: unknown) => {
          const why = damage(error)
          throw why === null ? error : new CliError(why, EXIT.verification)
        })
        if (run !== undefined) return concluded(ctx, await verifyOneRun(ctx, await ctx.runId(run, 'read'), agent))
        const kept = {
          ...(checkpoint !== undefined && { checkpoint: checkpointIn(resolve(ctx.io.cwd, checkpoint)) }),
          ...(vkey !== undefined && { vkey }),
        }
        return (await verifyAll(ctx, { anchors: anchors === true, ...kept })) ? EXIT.done : EXIT.verification
      }),
    )

  program
    .command('fork')
    .description(
      'a new run whose history up to a point is that of this one; ignored files and standing approvals stay behind',
    )
    .argument('<run>')
    .option('--to <step>', 'after this step', whole('--to'))
    .option('--turn <n>', 'at the end of this turn', whole('--turn'))
    .option('--event <revision>', 'after this event', whole('--event'))
    .option(
      '-w, --workspace <folder>',
      'a new folder for the files of that point (default: one beside the folder of the run, with its name and the end of the id)',
    )
    .option('--model <id>', 'go on with this model')
    .option('--max-turns <n>', 'go on with this limit', whole('--max-turns', 1))
    .option('--budget-tokens <n>', 'its own limit of tokens (default: as its source had)', whole('--budget-tokens', 1))
    .option(
      '--budget-usd <dollars>',
      'its own limit of money (default: as its source had)',
      moneyOption('--budget-usd'),
    )
    .option('--reuse', 'take recorded answers and results, unbilled, as long as it asks for the same')
    .option('--no-drive', 'only record the fork')
    .action(
      kit.action<{
        to?: number
        turn?: number
        event?: number
        workspace?: string
        model?: string
        maxTurns?: number
        budgetTokens?: number
        budgetUsd?: number
        reuse?: boolean
        drive?: boolean
      }>(async (ctx, [run], o) => {
        const { step, turn, event } = pointQuery(o)
        const id = await ctx.runId(run!, 'write')
        const budget = some({ tokens: o.budgetTokens, nanoDollars: o.budgetUsd })
        const json = {
          by: ctx.by,
          drive: false,
          ...(step === undefined ? {} : { step: Number(step) }),
          ...(turn === undefined ? {} : { turn: Number(turn) }),
          ...(event === undefined ? {} : { event: Number(event) }),
          ...(o.workspace === undefined ? {} : { workspace: resolve(ctx.io.cwd, o.workspace) }),
          ...(o.model === undefined ? {} : { model: modelId(o.model, ctx.io.cwd) }),
          ...(o.maxTurns === undefined ? {} : { maxTurns: o.maxTurns }),
          ...(budget === undefined ? {} : { budget }),
          ...(o.reuse ? { reuse: true as const } : {}),
        }
        const client = await ctx.client('write')
        const made = await take(client.v1.runs[':id'].fork.$post({ param: { id }, header: asOne(), json }))
        if (made.workspace !== null) ctx.note(`works in ${made.workspace}`)
        ctx.note(`run ${made.runId}`)
        for (const warning of made.warnings) ctx.note(`warning: ${warning}`)
        if (made.workspace !== null) ctx.note('What was ignored there (node_modules, .git and the like) is not in it.')
        ctx.note('Standing approvals are not inherited: its calls ask anew.')
        if (o.drive !== false) return driveToEnd(ctx, made.runId, FROM_BIRTH, resuming(ctx, made.runId))
        ctx.show(made, () => [made.runId])
        const detail = await take(client.v1.runs[':id'].$get({ param: { id: made.runId } }))
        for (const line of nextLines(ctx, detail)) ctx.note(line.trimStart())
        return EXIT.done
      }),
    )

  program
    .command('rebuild')
    .description('compute the tables anew from the log, compare, switch to them where they are equal')
    .option('--accept', 'switch to them also where they are not equal')
    .option('--take-over', 'on servers: replace the tables of another log, because this one has taken its place')
    .action(
      kit.action<RebuildOptions>(async (ctx, _, wishes) => {
        const found = await rebuilt(ctx, wishes)
        ctx.show(found, () => [
          `${counted(found.events, 'event')}; ${COMPARED[`${found.equal}`]}`,
          ...found.differences,
          found.switched ? 'switched to the new ones' : 'NOT switched: the tables are as they were',
        ])
        if (found.switched) return EXIT.done
        ctx.note(`where streams are parked and can be read again: ${ctx.command('release', '--all')}`)
        ctx.note(`where the new ones are right: ${ctx.command('rebuild', '--accept')}`)
        return EXIT.verification
      }),
    )

  program
    .command('backup')
    .description('write a consistent copy of the data into a new folder')
    .argument('<folder>')
    .action(
      kit.action(async (ctx, [to]) => {
        const folder = resolve(ctx.io.cwd, to!)
        // This command does not back up servers, whatever the folder. Let the API report that first.
        if (!onServers(ctx.config) && existsSync(folder))
          throw new CliError(`${folder} exists; name a folder that does not, such as ${basename(folder)}-2`)
        const client = await ctx.client('write')
        const backUp = take(client.v1.backup.$post({ json: { folder } }))
        const done = await measured(ctx, copyProgress(copiedParts(ctx.config.data), folder), backUp)
        ctx.show(done, () => [
          `${done.files.length} files, ${bytes(done.bytes)} in ${done.folder}`,
          `without the vault's key, which opens it: keep a copy of ${keyPlaceOf(vaultKeys(ctx.config))} elsewhere`,
        ])
        return EXIT.done
      }),
    )
}
