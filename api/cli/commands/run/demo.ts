import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { playDocument } from '../../../demo/document.ts'
import { demoScript, freshDemo, TASK } from '../../../demo/project.ts'
import { startDemoRun } from '../../../demo/start.ts'
import { tellStory } from '../../../demo/story.ts'
import { playTeam } from '../../../demo/team.ts'
import { envName, onServers } from '../../../process/config/settings.ts'
import { Context, type GlobalOptions } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { driveToEnd, FROM_BIRTH, resuming } from '../../follow/drive.ts'
import { type Kit, modelId } from '../kit.ts'

interface DemoOptions {
  live?: boolean
  model?: string
}

function startJob(ctx: Context, model: string | null, workspace: string): Promise<string> {
  const approve = ['write_file', 'run_command']
  return startDemoRun(ctx, { task: TASK, role: 'coder', workspace, approve, ...(model === null ? {} : { model }) })
}

/** Plays the demo, then shows the recorded events and commands to try next. */
async function play(ctx: Context, model: string | null, workspace: string): Promise<number> {
  ctx.note('You approve write_file and run_command beforehand; without that, every one of them would ask.\n')
  const runId = await startJob(ctx, model, workspace)
  const code = await driveToEnd(ctx, runId, FROM_BIRTH, resuming(ctx, runId))
  const client = await ctx.client('write')
  const ok =
    (await tellStory(ctx, client, runId)) &&
    (await playTeam(ctx, client, workspace)) &&
    (await playDocument(ctx, client))
  const short = runId.slice(0, 12)
  ctx.line(`\n${ctx.paint('bold', 'Next')}`)
  for (const words of [
    ['runs', 'show', short],
    ['events', short],
    ['replay', short, '--to', '9'],
    ['diff', short, '12', '28'],
    ['restore', short, '0', '--dry-run'],
    ['fork', short, '--to', '18', '-w', `${workspace}-again`],
    ['serve', '--open'],
  ]) {
    ctx.note(`  ${ctx.command(...words)}`)
  }
  if (code !== EXIT.done) return code
  return ok ? EXIT.done : EXIT.verification
}

type Settings = GlobalOptions & DemoOptions

/**
 * A context with the demo's data folder and embedded storage. The demo never writes to servers named in the settings.
 */
function apart(ctx: Context, options: Settings, data: string): Context {
  const file = join(ctx.config.data, 'keepup.json')
  const settings = existsSync(file) ? { config: file } : {}
  const named = SERVERS.map(envName).filter((name) => ctx.io.env[name] !== undefined)
  const program = ['env', ...named.map((name) => `-u ${name}`), ctx.io.program].join(' ')
  const io = named.length === 0 ? ctx.io : { ...ctx.io, program }
  return new Context(io, { ...settings, ...options, data }, { eventstore: null, postgres: null })
}
const SERVERS = ['eventstore', 'postgres']

/**
 * Without a named data folder, and whenever servers are configured, the demo uses a separate folder, so that its runs
 * do not mix with a person's runs.
 */
async function demo(ctx: Context, options: Settings): Promise<number> {
  const { live, model: asked } = options
  const model =
    asked === undefined ? (live ? ctx.config.model : `scripted:${demoScript()}`) : modelId(asked, ctx.io.cwd)
  const { folder, project, data } = freshDemo()
  const named = options.data !== undefined || ctx.io.env.KEEPUP_DATA !== undefined
  const place = named && !onServers(ctx.config) ? ctx : apart(ctx, options, data)
  ctx.note(
    model?.startsWith('scripted:')
      ? 'A scripted model plays the Coder; the tools, the tests and the gates are real. Use --live for a real model.'
      : `The model is ${model ?? 'the default one'}.`,
  )
  if (onServers(ctx.config)) ctx.note('Nothing of it goes to the servers of the settings.')
  ctx.note(`Project: ${project}`)
  try {
    return await play(place, model, project)
  } finally {
    await place.leave()
    ctx.note(
      place === ctx
        ? `\nThe run stays in ${ctx.config.data}; the project lies in ${folder}, which you may delete.`
        : `\nEverything of this demo lies in ${folder}; delete that folder when you have seen enough.`,
    )
  }
}

export function demoCommand(program: Command, kit: Kit): void {
  program
    .command('demo')
    .description('a coding job from end to end, in a project of its own, with a scripted model')
    .option('--live', 'with a real model (the configured one) instead of the script')
    .option('--model <id>', 'with this model')
    .action(kit.action<Settings>((ctx, _, options) => demo(ctx, options)))
}
