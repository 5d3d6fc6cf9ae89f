import type { Command } from 'commander'
import { asOne, take } from '../../../http/answers.ts'
import type { PermissionList } from '../../../operations/permissions/schemas.ts'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { oneLine } from '../../output/text.ts'
import type { Kit } from '../kit.ts'

async function list(ctx: Context, run: string, agent: string | undefined): Promise<number> {
  const id = await ctx.runId(run, 'read')
  const client = await ctx.client('read')
  const query = agent === undefined ? {} : { agent }
  const found = (await take(client.v1.runs[':id'].permissions.$get({ param: { id }, query }))) as PermissionList
  ctx.list(found.permissions, [
    { title: 'PERMISSION', of: ({ id }) => id },
    { title: 'TOOL', of: ({ tool }) => oneLine(tool) },
    { title: 'FOR', of: ({ scope, phase }) => (phase === null ? `this ${scope}` : `phase ${oneLine(phase)}`) },
    { title: 'UNTIL', of: ({ until }) => until },
  ])
  if (found.permissions.length > 0) ctx.note(`take one back with: ${ctx.command('revoke', 'PERMISSION')}`)
  return EXIT.done
}

/** Lists and revokes the permissions that people gave an agent beyond its policy. */
export function permissionCommands(program: Command, kit: Kit): void {
  program
    .command('permissions')
    .description('what people have permitted an agent beyond its policy, as far as it is in force')
    .argument('<run>')
    .option('--agent <id>', 'of this agent (default: the root agent)')
    .action(kit.action<{ agent?: string }>((ctx, [run], { agent }) => list(ctx, run!, agent)))

  program
    .command('revoke')
    .description('take a permission back: later calls of its tool are refused again, calls at work finish')
    .argument('<permission>', 'the id of the call that asked for it; "permissions" names it')
    .option('--reason <text>', 'why')
    .action(
      kit.action<{ reason?: string }>(async (ctx, [toolCallId], { reason }) => {
        const client = await ctx.client('write')
        const json = { by: ctx.by, ...(reason === undefined ? {} : { reason }) }
        const answer = client.v1.permissions[':toolCallId'].revoke.$post({
          param: { toolCallId: toolCallId! },
          header: asOne(),
          json,
        })
        const done = await take(answer)
        ctx.show(done, () => [`recorded ${done.agentId} at revision ${done.revision}`])
        return EXIT.done
      }),
    )
}
