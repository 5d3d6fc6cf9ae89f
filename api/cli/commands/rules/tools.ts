import type { Command } from 'commander'
import { take } from '../../../http/answers.ts'
import type { Tools } from '../../../operations/definitions/schemas.ts'
import { EXIT } from '../../exit.ts'
import { alone, type Kit } from '../kit.ts'

type Line = Tools['tools'][number]

const sourceOf = ({ server, control }: Line): string => server ?? (control ? 'to steer itself' : 'keepup')

/** `tools list`: the tools that agents can get here. */
export function toolsCommand(program: Command, kit: Kit): void {
  const tools = program.command('tools').description('the tools that agents can be given')
  alone(tools.command('list', { isDefault: true }))
    .description('names, effects and descriptions; the configured MCP servers are asked for theirs')
    .action(
      kit.action(async (ctx) => {
        const found = await take((await ctx.client('write')).v1.tools.$get({}))
        ctx.list(found.tools, [
          { title: 'NAME', of: (t) => t.name },
          { title: 'EFFECT', of: (t) => t.effect },
          { title: 'FROM', of: sourceOf },
          { title: 'DESCRIPTION', of: (t) => t.description.split(/(?<=\.)\s/)[0]!, flexible: true },
        ])
        for (const fault of found.faults) ctx.note(fault)
        return EXIT.done
      }),
    )
}
