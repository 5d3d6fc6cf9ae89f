import type { Command } from 'commander'
import { asOne, take } from '../../../http/answers.ts'
import { UsageError } from '../../exit.ts'
import { followAgent } from '../../follow/follow-agent.ts'
import { mustFollow } from '../../follow/must-follow.ts'
import { type Kit, names, readAll } from '../kit.ts'
import { passed } from './run.ts'

/** `continue`: a further task in the session of an ended run of another agent. */
export function continueCommand(program: Command, kit: Kit): void {
  program
    .command('continue')
    .description('continue the session of an ended run of another agent with a further task, as a new run')
    .argument('<run>')
    .argument('<task>', '"-" reads it from standard input')
    .option('--env <names>', 'variables of this environment that the agent is given', names)
    .option('--key <key>', 'idempotency key: the same command line again finds the same run')
    .action(
      kit.action<{ env?: string[]; key?: string }>(async (ctx, [run, given], { env, key }) => {
        const task = given === '-' ? (await readAll(ctx)).trim() : given!
        if (task.trim() === '') throw new UsageError('the task is empty')
        const id = await ctx.runId(run!, 'write')
        const client = await ctx.client('write')
        await mustFollow(ctx, false)
        const header = key === undefined ? asOne() : { 'idempotency-key': key }
        const json = { task, by: ctx.by, ...(env && { env: passed(env, ctx.io.env) }) }
        const started = await take(client.v1.runs[':id'].continue.$post({ param: { id }, header, json }))
        ctx.note(`run ${started.runId}`)
        return followAgent(ctx, started.runId)
      }),
    )
}
