import { Writable } from 'node:stream'
import type { Command } from 'commander'
import type { Context } from '../../context.ts'
import { EXIT } from '../../exit.ts'
import { hardExit } from '../../hard-exit.ts'
import type { Kit } from '../kit.ts'

const ENDING = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const

/** Serves MCP on stdin and stdout until the client closes them or a signal ends this process. */
async function mcp(ctx: Context, readOnly: boolean): Promise<number> {
  // Load the protocol only when needed: help loads the files of all commands.
  const [{ mcpServer }, { StdioServerTransport, serveStdio }] = await Promise.all([
    import('../../../mcp/server.ts'),
    import('@modelcontextprotocol/server/stdio'),
  ])
  // Open the backend before the first message, so that a locked or unusable folder fails at once and not during a call.
  await ctx.backend('write')
  const over = Promise.withResolvers<void>()
  const { stdin, stdout } = ctx.io
  const transport = new StdioServerTransport(stdin, stdout instanceof Writable ? stdout : undefined)
  const served = serveStdio(() => mcpServer(ctx, { readOnly }), {
    transport,
    onerror: ({ message }) => ctx.note(message),
  })
  const end = () => over.resolve()
  stdin.once('end', end).once('close', end)
  for (const signal of ENDING) process.once(signal, end)
  await over.promise
  for (const signal of ENDING) process.off(signal, end)
  // Let current work finish, as at every end of a process. `keepup resume` continues an unfinished run.
  hardExit(ctx.config.drainMs, EXIT.interrupted, (text) => ctx.note(text))
  await served.close()
  await ctx.leave()
  return EXIT.done
}

/** `mcp`: keepup as a tool server for other agents. */
export function mcpCommand(program: Command, kit: Kit): void {
  program
    .command('mcp')
    .description(
      'offer runs, events, states and approvals to a client of the Model Context Protocol, on the standard streams',
    )
    .option('--read-only', 'offer no tool that records anything')
    .action(kit.action<{ readOnly?: boolean }>((ctx, _, { readOnly = false }) => mcp(ctx, readOnly)))
}
