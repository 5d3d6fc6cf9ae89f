import type { Command } from 'commander'
import { demoScript, freshProject, TASK } from '../../demo/project.ts'
import { tellStory } from '../../demo/story.ts'
import { Refused, take } from '../client.ts'
import type { Context } from '../context.ts'
import { driveToEnd, FROM_BIRTH, resuming } from '../drive.ts'
import { EXIT } from '../exit.ts'
import { type Kit, modelId } from './kit.ts'

interface DemoOptions {
  live?: boolean
  model?: string
}

/** Starts the job; where commands cannot be confined it says so and goes on without a sandbox, which is recorded. */
async function startJob(ctx: Context, model: string | null, workspace: string): Promise<string> {
  const client = await ctx.client('write')
  const start = (sandboxed: boolean) =>
    take(
      client.v1.runs.$post({
        header: {},
        json: {
          task: TASK,
          role: 'coder',
          workspace,
          approve: ['write_file', 'run_command'],
          drive: false,
          by: ctx.by,
          ...(model === null ? {} : { model }),
          ...(sandboxed ? {} : { policy: { sandboxed: false } }),
        },
      }),
    )
  try {
    return (await start(true)).runId
  } catch (error) {
    if (!(error instanceof Refused && error.code === 'SANDBOX_UNAVAILABLE')) throw error
    ctx.note(`No sandbox here: ${error.message}`)
    ctx.note('The demo runs its own harmless commands without one; this is recorded with the run.')
    return (await start(false)).runId
  }
}

async function demo(ctx: Context, { live, model: asked }: DemoOptions): Promise<number> {
  const model = asked === undefined ? (live ? null : `scripted:${demoScript()}`) : modelId(asked, ctx.io.cwd)
  const workspace = freshProject()
  ctx.note(
    model?.startsWith('scripted:')
      ? 'A scripted model plays the Coder; the tools, the tests and the gates are real. Use --live for a real model.'
      : `The model is ${model ?? ctx.config.model ?? 'the default one'}.`,
  )
  ctx.note(`Project: ${workspace}`)
  ctx.note('You approve write_file and run_command beforehand; without that, every one of them would ask.\n')
  const runId = await startJob(ctx, model, workspace)
  const code = await driveToEnd(ctx, runId, FROM_BIRTH, resuming(ctx, runId))
  const ok = await tellStory(ctx, await ctx.client('write'), runId)
  const short = runId.slice(0, 12)
  ctx.line(`\n${ctx.paint('bold', 'Next')}`)
  for (const line of [
    `npx keepup runs show ${short}`,
    `npx keepup events ${short}`,
    `npx keepup replay ${short} --to 9`,
    `npx keepup diff ${short} 12 28`,
    `npx keepup fork ${short} --to 18 -w ${workspace}-again`,
    'npx keepup serve',
  ]) {
    ctx.note(`  ${line}`)
  }
  if (code !== EXIT.done) return code
  return ok ? EXIT.done : EXIT.verification
}

export function demoCommand(program: Command, kit: Kit): void {
  program
    .command('demo')
    .description('a coding job from end to end, in a project of its own, with a scripted model')
    .option('--live', 'with a real model (the configured one) instead of the script')
    .option('--model <id>', 'with this model')
    .action(kit.action<DemoOptions>((ctx, _, options) => demo(ctx, options)))
}
